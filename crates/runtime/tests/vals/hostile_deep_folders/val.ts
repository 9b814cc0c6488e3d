// Folders in folders, deeper than any path can say or any stack can follow, and one that not even its owner may look
// into.
console.log("before");
Deno.mkdirSync("closed/inside", { recursive: true });
Deno.chmodSync("closed", 0);
const chain = "a/".repeat(900);
for (let turn = 0;; turn++) {
  Deno.mkdirSync(chain, { recursive: true });
  if (turn > 0) Deno.renameSync(`whole${turn - 1}`, `${chain}b`);
  Deno.renameSync("a", `whole${turn}`);
}
