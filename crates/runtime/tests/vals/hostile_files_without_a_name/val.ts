console.log("before");
const part = new Uint8Array(8 << 20).fill(1);
const open: Deno.FsFile[] = [];
for (;;) {
  const file = Deno.openSync("file", { create: true, write: true });
  Deno.removeSync("file");
  for (let parts = 0; parts < 8; parts++) file.writeSync(part);
  open.push(file);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
