// Imports that only show at run time: the host has the vals, and writes the one that is asked for into this worker's
// folder.

import {
  defineProperty,
  mapDelete,
  mapGet,
  mapSet,
  NativeMap,
  NativePromise,
  NativeTypeError,
  NativeURL,
  startsWith,
  urlHref,
} from "./natives.ts";
import { quote, send, stayForHost } from "./channel.ts";

interface Asked {
  resolve(url: string): void;
  reject(error: unknown): void;
}

/** So many are asked for at once, others wait; the host ends a worker that asks for many more. */
const mostOpen = 32;

interface Waiting {
  go(): void;
  next: Waiting | undefined;
}

const asked = new NativeMap<number, Asked>();
let count = 0;
let open = 0;
let firstWaiting: Waiting | undefined;
let lastWaiting: Waiting | undefined;

/** What Deno has at hand; everything else may mean a val, or has to be fetched by the host. */
const direct = ["node:", "data:", "blob:"];

function isDirect(specifier: string): boolean {
  for (let index = 0; index < direct.length; index++) {
    if (startsWith(specifier, direct[index])) return true;
  }
  return false;
}

function ask(importer: string, specifier: string): Promise<string> {
  return new NativePromise((resolve, reject) => {
    const go = () => {
      const id = count++;
      mapSet(asked, id, { resolve, reject });
      open += 1;
      stayForHost(true);
      send(`{"type":"import","id":${id},"importer":${quote(importer)},"specifier":${quote(specifier)}}`);
    };
    if (open < mostOpen) return go();
    const waiting = { go, next: undefined };
    if (lastWaiting === undefined) firstWaiting = waiting;
    else lastWaiting.next = waiting;
    lastWaiting = waiting;
  });
}

/** The one that has waited longest asks now. */
function askNext() {
  const next = firstWaiting;
  if (next === undefined) return;
  firstWaiting = next.next;
  if (firstWaiting === undefined) lastWaiting = undefined;
  next.go();
}

/** The host's answer to an import that was asked for. */
export function answer(message: { id: number; url?: string; error?: string }) {
  const waiting = mapGet(asked, message.id) as Asked | undefined;
  if (waiting === undefined) return;
  mapDelete(asked, message.id);
  open -= 1;
  askNext();
  stayForHost(open > 0);
  if (message.url === undefined) waiting.reject(new NativeTypeError(message.error));
  else waiting.resolve(message.url);
}

async function valImport(
  importer: string,
  specifier: unknown,
  options?: ImportCallOptions,
): Promise<unknown> {
  const text = `${specifier}`;
  return import(isDirect(text) ? text : await ask(importer, text), options);
}

/** Makes `import.meta` that of a remote module: without a path, and with its public address to resolve others against. */
function describe(meta: Partial<ImportMeta>, url: string) {
  const resolve = (specifier: string) => {
    const text = `${specifier}`;
    const isRelative = startsWith(text, "./") || startsWith(text, "../") || startsWith(text, "/");
    try {
      return urlHref(new NativeURL(text, isRelative ? url : undefined));
    } catch {
      throw new NativeTypeError(
        `${quote(text)} is no address of a module: a relative one begins with ./, ../ or /`,
      );
    }
  };
  meta.url = url;
  meta.resolve = resolve;
  delete meta.filename;
  delete meta.dirname;
}

// Compiled code calls them by these names, where its author wrote `import(…)`, and where `import.meta`.
defineProperty(globalThis, "__hamletImport", { value: valImport });
defineProperty(globalThis, "__hamletMeta", { value: describe });
