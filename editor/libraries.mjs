// The types of what a val may use: the language's own from TypeScript, the rest from the Deno that vals run on.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = join(dirname(fileURLToPath(import.meta.url)), "node_modules");

/** Declaration files by their path. */
export function libraries() {
  const folder = join(modules, "typescript", "lib");
  const isLanguage = (name) =>
    /^lib\.(decorators|es\d|esnext).*\.d\.ts$/.test(name) && !name.endsWith(".full.d.ts");
  const files = readdirSync(folder).filter(isLanguage);
  const texts = Object.fromEntries(
    files.map((name) => [`/${name}`, readFileSync(join(folder, name), "utf8")]),
  );
  // What Deno's own declarations refer to is either above or, like the types of Node, not there.
  texts["/deno.d.ts"] = denoTypes().replace(/^\/\/\/ <reference .*$/gm, "");
  return texts;
}

function denoTypes() {
  const platforms = join(modules, "@deno");
  for (const platform of readdirSync(platforms)) {
    const program = join(platforms, platform, process.platform === "win32" ? "deno.exe" : "deno");
    const env = { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
    return execFileSync(program, ["types"], { encoding: "utf8", env, maxBuffer: 16 << 20 });
  }
  throw new Error("there is no Deno for this platform in node_modules: run npm ci");
}
