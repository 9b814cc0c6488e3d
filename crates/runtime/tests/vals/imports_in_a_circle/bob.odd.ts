import { even } from "https://esm.town/v/bob/even";
export const odd = (n: number): boolean => n !== 0 && even(n - 1);
