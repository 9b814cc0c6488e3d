import { meta, there } from "./../bob/tool";
const { filename, dirname, resolve } = import.meta;
const refused = (specifier: string) => {
  try {
    return resolve(specifier);
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
};
export default [
  import.meta.url,
  import.meta["url"],
  import.meta.filename ?? filename ?? import.meta.dirname ?? dirname ?? "no path",
  import.meta.resolve("./lib?v=1"),
  resolve("../bob/tool.ts"),
  resolve("/v/bob/tool"),
  ["npm:hono@4", "node:fs", "https://ESM.sh/x", "bare"].map(refused),
  there,
  JSON.stringify(meta).includes("file:"),
];
