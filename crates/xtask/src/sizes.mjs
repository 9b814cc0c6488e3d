// What the first visit to a val's page downloads before it opens the editor, as the server sends it: compressed with
// brotli. Fails when the web app has grown beyond its budget.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** @type {Record<string, number>} */
const BUDGET = { all: 330_000, ".wasm": 250_000 };

const folder = process.argv[2];
/** The parts that the page's head fetches ahead, by the addresses that they are for. @type {[string, string[]][]} */
const parts = JSON.parse(
  readFileSync(join(folder, "index.html"), "utf8").match(/const name of (\[\[.+\]\])\.find/)?.[1] ?? "[]",
);
const ahead = parts.find(([addresses]) => new RegExp(addresses).test("/v/someone/something"))?.[1] ?? [];
/** @param {string} name */
const isOther = (name) => name.endsWith(".wasm") && !name.endsWith("_bg.wasm") && !ahead.includes(name);
/** @type {Record<string, number>} */
const sizes = {};
for (const entry of readdirSync(folder, { withFileTypes: true })) {
  const extension = extname(entry.name);
  if (
    !entry.isFile() || isOther(entry.name) ||
    ![".html", ".js", ".css", ".wasm", ".svg"].includes(extension)
  ) continue;
  const compressed = brotliCompressSync(readFileSync(join(folder, entry.name)), {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  });
  sizes[extension] = (sizes[extension] ?? 0) + compressed.length;
}
sizes.all = Object.values(sizes).reduce((sum, size) => sum + size);

/** @param {number} bytes */
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
for (const [kind, size] of Object.entries(sizes)) {
  const most = BUDGET[kind] ? ` of at most ${kilobytes(BUDGET[kind])}` : "";
  console.log(`${kind.padEnd(6)} ${kilobytes(size).padStart(9)}${most}`);
  if (size > BUDGET[kind]) process.exitCode = 1;
}
if (process.exitCode) console.error("The web app is larger than its budget.");
