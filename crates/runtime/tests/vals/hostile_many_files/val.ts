const open: unknown[] = [];
let refused = "";
try {
  for (let count = 0; count < 10_000; count++) {
    open.push(Deno.openSync("file", { create: true, write: true }));
    if (count % 2 === 0) open.push(Deno.listen({ transport: "unix", path: `socket${count}` }));
  }
} catch (error) {
  refused = (error as Error).message;
}
console.log("after");
export default [open.length > 1000 && open.length < 3000, /too many open files/i.test(refused)];
setTimeout(() => Deno.exit(), 100);
