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
  startsWith,
} from "./natives.ts";
import { quote, send, stayForHost } from "./channel.ts";

interface Asked {
  resolve(url: string): void;
  reject(error: unknown): void;
}

const asked = new NativeMap<number, Asked>();
let count = 0;
let open = 0;

/** What Deno loads itself; everything else may mean a val. */
const direct = ["npm:", "jsr:", "node:", "data:", "blob:"];

function isDirect(specifier: string): boolean {
  for (let index = 0; index < direct.length; index++) {
    if (startsWith(specifier, direct[index])) return true;
  }
  return false;
}

function ask(importer: string, specifier: string): Promise<string> {
  return new NativePromise((resolve, reject) => {
    const id = count++;
    mapSet(asked, id, { resolve, reject });
    open += 1;
    stayForHost(true);
    send(`{"type":"import","id":${id},"importer":${quote(importer)},"specifier":${quote(specifier)}}`);
  });
}

/** The host's answer to an import that was asked for. */
export function answer(message: { id: number; url?: string; error?: string }) {
  const waiting = mapGet(asked, message.id) as Asked | undefined;
  if (waiting === undefined) return;
  mapDelete(asked, message.id);
  open -= 1;
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

// Compiled code calls it by this name where its author wrote `import(…)`.
defineProperty(globalThis, "__hamletImport", { value: valImport });
