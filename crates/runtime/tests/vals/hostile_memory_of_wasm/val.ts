console.log("before");
const all: WebAssembly.Memory[] = [];
for (;;) {
  try {
    const memory = new WebAssembly.Memory({ initial: 1 });
    all.push(memory);
    for (;;) {
      const pages = memory.grow(256);
      new Uint8Array(memory.buffer, pages * 65536).fill(1);
    }
  } catch {
    // The next one.
  }
}
