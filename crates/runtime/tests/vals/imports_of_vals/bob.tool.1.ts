export const name = 'first';
export const extra = 1;
