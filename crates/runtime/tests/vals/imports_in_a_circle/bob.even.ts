import { odd } from "https://esm.town/v/bob/odd";
export const even = (n: number): boolean => n === 0 || odd(n - 1);
