namespace Space {
  export const far = 1;
}
const enum Fast {
  A = "a",
}
class Point {
  constructor(readonly x: number, private y = 2) {}
  get sum() {
    return this.x + this.y;
  }
}
const angle = <number> <unknown> 3;
export default [Space.far, Fast.A, new Point(1).sum, angle satisfies number];
