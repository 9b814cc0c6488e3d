// TypeScript over files in memory, set up as vals are run: Deno's types, modules only, nothing emitted.
import { createSystem, createVirtualTypeScriptEnvironment } from "@typescript/vfs";
import ts from "typescript";

export function createEnvironment(libraries: Record<string, string>) {
  const system = createSystem(new Map(Object.entries(libraries)));
  return createVirtualTypeScriptEnvironment(system, ["/deno.d.ts"], ts, {
    allowImportingTsExtensions: true,
    allowJs: true,
    jsx: ts.JsxEmit.Preserve,
    lib: ["lib.esnext.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    // What is imported has no types here: functions handed to it would all be complained of.
    noImplicitAny: false,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
  });
}
