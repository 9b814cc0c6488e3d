console.log("before");
const all: WebAssembly.Memory[] = [];
for (;;) {
  try {
    const memory = new WebAssembly.Memory({ initial: 1 });
    all.push(memory);
    for (;;) new Uint8Array(memory.buffer, memory.grow(1024) * 65536).fill(1);
  } catch {
    // The next one.
  }
}
