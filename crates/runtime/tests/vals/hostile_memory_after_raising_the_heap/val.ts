import { setFlagsFromString } from "node:v8";
setFlagsFromString("--max-old-space-size=8000");
setFlagsFromString("--max-heap-size=8000");
console.log("before");
const all: unknown[] = [];
for (;;) all.push(new Array(1e5).fill(all.length));
