// Bundles the editor into dist/: entry.js, whose name never changes, and behind it files with hashed names.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { libraries } from "./libraries.mjs";

const folder = dirname(fileURLToPath(import.meta.url));
const dist = join(folder, "dist");

const common = {
  absWorkingDir: folder,
  bundle: true,
  chunkNames: "[name]-[hash]",
  entryNames: "[name]-[hash]",
  define: { "process.env.NODE_ENV": '"production"' },
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  minify: true,
  outdir: dist,
  platform: "browser",
  target: "es2022",
};

/**
 * style-mod writes a `<style>` element into a document, which a strict Content-Security-Policy refuses, and keeps
 * constructable style sheets for shadow roots. Every browser that runs the app has them for documents too.
 */
const strictStyles = {
  name: "strict-styles",
  setup(build) {
    build.onLoad({ filter: /style-mod[\\/]src[\\/]style-mod\.js$/ }, ({ path }) => {
      const condition = "!root.head && root.adoptedStyleSheets";
      const source = readFileSync(path, "utf8");
      if (!source.includes(condition)) {
        throw new Error(`style-mod has changed: look for a <style> in ${path}`);
      }
      return { contents: source.replace(condition, "root.adoptedStyleSheets"), loader: "js" };
    });
  },
};

const embeddedLibraries = {
  name: "embedded-libraries",
  setup(build) {
    build.onResolve({ filter: /^virtual:libraries$/ }, ({ path }) => ({ path, namespace: "virtual" }));
    build.onLoad(
      { filter: /.*/, namespace: "virtual" },
      () => ({ contents: JSON.stringify(libraries()), loader: "json" }),
    );
  },
};

/** The hashed name that an entry point was given. */
function outputOf({ outputs }, entry) {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entry);
  return basename(found[0]);
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const worker = await build({
  ...common,
  entryPoints: ["src/types_worker.ts"],
  // Named in paths that only Node takes.
  external: ["fs", "path"],
  plugins: [embeddedLibraries],
});
const page = await build({
  ...common,
  // The page's side of the types uses two enums of TypeScript; the compiler itself belongs to the worker.
  alias: { typescript: "./src/typescript_shim.ts" },
  define: {
    ...common.define,
    TYPES_WORKER: JSON.stringify(outputOf(worker.metafile, "src/types_worker.ts")),
  },
  entryPoints: ["src/colours.ts", "src/compare.ts", "src/editor.ts"],
  plugins: [strictStyles],
  splitting: true,
});
const parts = ["colours", "compare", "editor"].map((
  name,
) => [name, outputOf(page.metafile, `src/${name}.ts`)]);
const { colours, compare, editor } = Object.fromEntries(parts);
// The app loads this with a script element and finds the bundle in a global: WebAssembly has no import() of its own.
writeFileSync(
  join(dist, "entry.js"),
  `globalThis.hamletEditor = {
  async loadEditor() {
    Object.assign(this, await import("./${editor}"));
  },
  async createCompare(options) {
    return (await import("./${compare}")).createCompare(options);
  },
  async colour(element) {
    return (await import("./${colours}")).colour(element);
  },
};
`,
);
