import { even } from "https://esm.town/v/bob/even";
export default [even(10), even(7)];
