console.log("before");
const all: Uint8Array[] = [];
for (;;) {
  try {
    all.push(new Uint8Array(64 << 20).fill(1));
  } catch {
    // Out of address space: keep what there is.
  }
}
