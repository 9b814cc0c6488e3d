// Threads of a val: each has a `fetch` of its own, which is to reach the instance too.

import {
  defineProperty,
  mapGet,
  mapSet,
  NativeMap,
  NativeURL,
  startsWith,
  stringify,
  urlHref,
} from "./natives.ts";
import { parsed } from "./instance.ts";

// deno-lint-ignore-file no-explicit-any

/** So long a thread may take to load what its val has let go of already. */
const loadedWithinMs = 10_000;

/**
 * Has threads load `boot` before their own module: a module that lets their `fetch` reach the instance. Nothing is done
 * for that before a val asks for the class, which most don't.
 */
export function reachInstanceFromThreads(boot: () => string) {
  const { getOwnPropertyDescriptor } = Object;
  const found = getOwnPropertyDescriptor(globalThis, "Worker");
  if (found === undefined) return;
  const native = (): typeof Worker => found.get === undefined ? found.value : found.get.call(globalThis);
  let made: typeof Worker | undefined;
  const set = (value: unknown) =>
    defineProperty(globalThis, "Worker", { value, configurable: true, writable: true });
  defineProperty(globalThis, "Worker", {
    configurable: true,
    get: () => made ??= withBoot(native(), boot),
    set,
  });
}

function withBoot(Native: typeof Worker, boot: () => string): typeof Worker {
  const keep = keepForThreads();
  const { encodeURIComponent } = globalThis;
  const through = (specifier: string | URL): string | URL => {
    const url = parsed(`${specifier}`);
    // What is no address is for the engine to refuse.
    if (url === undefined) return specifier;
    const href = urlHref(url);
    if (startsWith(href, "blob:")) keep(href);
    const code = `import ${stringify(boot())};import ${stringify(href)};`;
    return `data:text/javascript,${encodeURIComponent(code)}`;
  };
  return class Worker extends Native {
    constructor(specifier: string | URL, options?: WorkerOptions) {
      super(through(specifier), options);
    }
  };
}

/** A val may let go of a thread's code as soon as the thread is made, which loads it a moment later than it would. */
function keepForThreads(): (url: string) => void {
  const { revokeObjectURL } = NativeURL;
  const { setTimeout } = globalThis;
  const { unrefTimer } = Deno;
  const kept = new NativeMap<string, boolean>();
  NativeURL.revokeObjectURL = (url: any) => {
    if (mapGet(kept, `${url}`) !== true) return revokeObjectURL(url);
    unrefTimer(setTimeout(() => revokeObjectURL(url), loadedWithinMs) as any);
  };
  return (url) => mapSet(kept, url, true);
}
