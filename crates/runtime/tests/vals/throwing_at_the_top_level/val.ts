const a: number = 1;

null!.b;
export default a;
