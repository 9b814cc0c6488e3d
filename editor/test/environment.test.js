import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { libraries } from "../libraries.mjs";

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
let environment;

before(async () => {
  const cache = join(folder, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const outfile = join(cache, "environment.mjs");
  await build({
    entryPoints: [join(folder, "src/environment.ts")],
    outfile,
    bundle: true,
    format: "esm",
    packages: "external",
  });
  const { createEnvironment } = await import(outfile);
  environment = createEnvironment(libraries());
});

function problems(code) {
  environment.createFile("/val.tsx", code);
  const service = environment.languageService;
  const found = [
    ...service.getSyntacticDiagnostics("/val.tsx"),
    ...service.getSemanticDiagnostics("/val.tsx"),
  ];
  environment.deleteFile("/val.tsx");
  return found.map(({ code, messageText }) =>
    `${code} ${typeof messageText === "string" ? messageText : messageText.messageText}`
  );
}

describe("types in the editor", () => {
  it("know what Deno and the web give to a val", () => {
    const code = `
      const started: number = performance.now();
      console.log(Deno.env.get("HOME"), await crypto.subtle.digest("SHA-256", new Uint8Array(1)), started);
      export default (request: Request): Response => Response.json({ url: new URL(request.url).href });
    `;
    assert.deepEqual(problems(code), []);
  });

  it("find a value of the wrong type", () => {
    const [problem, ...more] = problems(`export const text: string = 1 + 1;`);
    assert.match(problem, /^2322 .*number.*string/);
    assert.deepEqual(more, []);
  });

  it("complain of a module that has no types only by codes that the editor leaves out", () => {
    const code = `
      import { Hono } from "npm:hono@4";
      import { add } from "https://esm.town/v/ada/add";
      const app = new Hono();
      app.get("/", (context) => context.text(String(add(1, 2))));
      export default app.fetch;
    `;
    const codes = problems(code).map((problem) => problem.split(" ")[0]);
    assert.deepEqual(codes, ["2307", "2307"]);
  });

  it("keep the names of two vals apart", () => {
    environment.createFile("/other.tsx", "const shared = 1; export {};");
    assert.deepEqual(problems("const shared = 'mine'; console.log(shared);"), []);
    environment.deleteFile("/other.tsx");
  });
});
