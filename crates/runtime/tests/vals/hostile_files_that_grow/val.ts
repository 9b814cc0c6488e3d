console.log("before");
const part = new Uint8Array(8 << 20).fill(1);
for (let count = 0;; count++) {
  using file = Deno.openSync(`file${count}`, { create: true, write: true });
  for (let parts = 0; parts < 8; parts++) file.writeSync(part);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
