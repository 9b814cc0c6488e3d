const half = (n: number) => n / 2;
export default half;
