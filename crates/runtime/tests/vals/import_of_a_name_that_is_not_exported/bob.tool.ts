export const there = 1;
