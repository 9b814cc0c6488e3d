import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { WASI } from "node:wasi";

const library = "libc.so.6";
const require = createRequire(`file://${Deno.cwd()}/`);
// The beginning of a library, in the one folder that a val may write to.
Deno.writeFileSync(
  "own.node",
  new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0]),
);
const own = `${Deno.cwd()}/own.node`;

const tries: Record<string, () => unknown> = {
  dlopen: () => Deno.dlopen(library, {}),
  dlopenOwn: () => Deno.dlopen(own, {}),
  pointer: () => Deno.UnsafePointer.create(4096n),
  processDlopen: () => process.dlopen({ exports: {} }, own),
  require: () => require(own),
  import: () => import(own),
  extension: () => new DatabaseSync(":memory:", { allowExtension: true }).loadExtension(own),
  extensionBySql: () => {
    const database = new DatabaseSync(":memory:", { allowExtension: true });
    database.enableLoadExtension(true);
    database.exec(`SELECT load_extension('${own}')`);
  },
  wasi: () => new WASI({ version: "preview1", preopens: { "/": "/" } }),
};
const loaded: string[] = [];
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    loaded.push(name);
  } catch {
    // Refused.
  }
}
export default loaded;
