// Which of a module's exports a kind of val means.

import { apply, ownKeys } from "./natives.ts";
import { ruleBroken } from "./errors.ts";

// deno-lint-ignore no-explicit-any
export type Module = Record<string, any>;
export type Handler = (input: unknown) => unknown;

function namesOf(module: Module): string[] {
  const keys = ownKeys(module);
  const names: string[] = [];
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (typeof key === "string") names[names.length] = key;
  }
  return names;
}

function has(names: string[], name: string): boolean {
  for (let index = 0; index < names.length; index++) if (names[index] === name) return true;
  return false;
}

/** What a script gives: its default export, else its only one, else nothing. */
export function scriptExport(module: Module): unknown {
  const names = namesOf(module);
  if (has(names, "default")) return module.default;
  return names.length === 1 ? module[names[0]] : undefined;
}

function asHandler(value: unknown, fetches: boolean): Handler | undefined {
  if (typeof value === "function") return value as Handler;
  if (!fetches || typeof value !== "object" || value === null) return undefined;
  const { fetch } = value as { fetch?: unknown };
  return typeof fetch === "function" ? (input) => apply(fetch, value, [input]) : undefined;
}

/** The handler: the default export, else the only exported function. For HTTP, an object with `fetch` will do too. */
export function handlerOf(module: Module, fetches: boolean): Handler {
  const wanted = fetches ? "a function or an object with a fetch function" : "a function";
  const names = namesOf(module);
  if (has(names, "default")) {
    const handler = asHandler(module.default, fetches);
    if (handler === undefined) {
      throw ruleBroken(`The val's default export is its handler and must be ${wanted}.`);
    }
    return handler;
  }
  let found: Handler | undefined;
  let count = 0;
  for (let index = 0; index < names.length; index++) {
    const handler = asHandler(module[names[index]], fetches);
    if (handler === undefined) continue;
    found = handler;
    count += 1;
  }
  if (count > 1) {
    throw ruleBroken(
      "The val exports several functions and no default: export the one that is its handler as default.",
    );
  }
  if (found === undefined) throw ruleBroken(`The val exports no handler: export ${wanted} as default.`);
  return found;
}
