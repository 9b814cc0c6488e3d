export const id = {};
