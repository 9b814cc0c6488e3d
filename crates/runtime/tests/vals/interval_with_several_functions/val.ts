export const a = () => {};
export const b = () => {};
