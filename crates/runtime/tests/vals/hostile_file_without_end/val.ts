console.log("before");
const file = Deno.openSync("file", { create: true, write: true });
// The system counts the place, not what lies before it.
file.seekSync(600 << 20, Deno.SeekMode.Start);
file.writeSync(new Uint8Array(1));
