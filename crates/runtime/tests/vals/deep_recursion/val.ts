const down = (n: number): number => down(n + 1) + 1;
export default () => down(0);
