export const name: string = 'second';
export default (n: number) => n * 2;
