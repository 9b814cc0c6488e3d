import one from "data:text/javascript,export default 1";
import { two } from "data:application/typescript,export const two: number = 2 as number";
import three from 'data:application/json,{"n":3}' with { type: "json" };
const { four } = await import("data:text/javascript,export const four = " + "4");
const { default: five } = await import("data:application/json," + "5", { with: { type: "json" } });
export default [one, two, three.n, four, five];
