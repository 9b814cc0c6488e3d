// Folders in folders, deeper than any path can say or any stack can follow, and one that not even its owner may look
// into.
console.log("before");
Deno.mkdirSync("closed/inside", { recursive: true });
Deno.chmodSync("closed", 0);
const name = "a".repeat(200);
const chain = `${name}/`.repeat(15);
for (let turn = 0;; turn++) {
  Deno.mkdirSync(chain, { recursive: true });
  if (turn > 0) Deno.renameSync(`whole${turn - 1}`, `${chain}b`);
  Deno.renameSync(name, `whole${turn}`);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
