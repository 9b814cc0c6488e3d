export const meta = import.meta;
export const there = import.meta.resolve("./near");
