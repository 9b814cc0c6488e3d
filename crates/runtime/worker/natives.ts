// What the worker itself needs of the engine, taken before a val's code is loaded: a val may replace any global and any
// prototype, and must not reach the worker's own work by that.

// deno-lint-ignore-file no-explicit-any
const { bind, call } = Function.prototype;

/** `method` as a function whose first argument is `this`, found without any later look-up. */
export const uncurry = bind.bind(call) as <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (self: This, ...args: Args) => Result;

const getter = (prototype: object, name: string): (self: any) => any =>
  uncurry(Object.getOwnPropertyDescriptor(prototype, name)!.get!);

export const { defineProperty } = Object;
export const { apply, ownKeys } = Reflect;
export const { parse, stringify } = JSON;
export const now: () => number = performance.now.bind(performance);
export const { inspect } = Deno;
export const exit: (code: number) => never = Deno.exit;
export const cwd: string = Deno.cwd();

export const slice = uncurry(String.prototype.slice);
export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const startsWith = uncurry(String.prototype.startsWith);
export const toLowerCase = uncurry(String.prototype.toLowerCase);
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const encode: (text: string) => Uint8Array<ArrayBuffer> = encoder.encode.bind(encoder) as any;
export const decode: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);
/** Of a typed array, past whatever its prototype has become. */
export const lengthOf: (bytes: Uint8Array) => number = getter(
  Object.getPrototypeOf(Uint8Array.prototype),
  "length",
);
const bufferOf: (bytes: Uint8Array) => ArrayBuffer = getter(
  Object.getPrototypeOf(Uint8Array.prototype),
  "buffer",
);
export const NativeBytes = Uint8Array;
/** The bytes from an offset on; `bytes` must begin where its buffer does. */
export const bytesFrom = (bytes: Uint8Array, offset: number) =>
  new NativeBytes(bufferOf(bytes), offset, lengthOf(bytes) - offset);
export const fromBase64: (text: string) => Uint8Array<ArrayBuffer> = (Uint8Array as any).fromBase64.bind(
  Uint8Array,
);

export const NativeFile = File;
export const NativeDate = Date;
export const NativeTypeError = TypeError;
export const NativePromise = Promise;
export const NativeMap = Map;
export const NativeForgotten = FinalizationRegistry;

export const NativeURL = URL;
export const urlHref: (url: unknown) => string = getter(URL.prototype, "href");
export const urlOrigin: (url: URL) => string = getter(URL.prototype, "origin");

/** Requests, answers and the server of them. */
export interface Web {
  NativeHeaders: typeof Headers;
  NativeRequest: typeof Request;
  NativeResponse: typeof Response;
  nativeServe: typeof Deno.serve;
  requestBody(request: Request): ReadableStream | null;
  requestHeaders(request: Request): Headers;
  requestMethod(request: Request): string;
  requestRedirect(request: Request): RequestRedirect;
  requestSignal(request: Request): AbortSignal;
  requestUrl(request: unknown): string;
  responseBody(response: Response): ReadableStream | null;
  responseHeaders(response: Response): Headers;
  responseStatus(response: unknown): number;
  responseUrl(response: Response): string;
  cloneResponse(response: Response): Response;
  headersDelete(headers: Headers, name: string): void;
  headersEach(headers: Headers, body: (value: string, name: string) => void): void;
  headersGet(headers: Headers, name: string): string | null;
  streamLocked(stream: unknown): boolean;
}

let web: Web | undefined;

/**
 * The engine's classes for the web, which it loads only when they are asked for; that takes a third of a worker's
 * start, and most vals that are no HTTP vals do without. What serves must have them before the val's code comes.
 */
export function loadWeb(): Web {
  web ??= {
    NativeHeaders: Headers,
    NativeRequest: Request,
    NativeResponse: Response,
    nativeServe: Deno.serve,
    requestBody: getter(Request.prototype, "body"),
    requestHeaders: getter(Request.prototype, "headers"),
    requestMethod: getter(Request.prototype, "method"),
    requestRedirect: getter(Request.prototype, "redirect"),
    requestSignal: getter(Request.prototype, "signal"),
    requestUrl: getter(Request.prototype, "url"),
    responseBody: getter(Response.prototype, "body"),
    responseHeaders: getter(Response.prototype, "headers"),
    responseStatus: getter(Response.prototype, "status"),
    responseUrl: getter(Response.prototype, "url"),
    cloneResponse: uncurry(Response.prototype.clone),
    headersDelete: uncurry(Headers.prototype.delete),
    headersEach: uncurry(Headers.prototype.forEach),
    headersGet: uncurry(Headers.prototype.get),
    streamLocked: getter(ReadableStream.prototype, "locked"),
  };
  return web;
}

/** Whether `read` takes `value` for one of its own, whatever `instanceof` has been made to say. */
export function isReadBy<T>(read: (value: T) => unknown, value: unknown): value is T {
  try {
    read(value as T);
    return true;
  } catch {
    return false;
  }
}

/** The address that `fetch` was given, or nothing if it is none. */
export function addressOf(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (isReadBy(urlHref, input)) return urlHref(input);
  const { requestUrl } = loadWeb();
  return isReadBy(requestUrl, input) ? requestUrl(input) : undefined;
}

/** Async context: which run a piece of code belongs to, across its promises and timers. */
export interface Scope<T> {
  run<Args extends unknown[], Result>(value: T, body: (...args: Args) => Result, ...args: Args): Result;
  get(): T | undefined;
}

// The engine's own console and async context are the same that its public modules are made of; taking them here saves
// loading those modules into every worker.
const internals = (Deno as any)[(Deno as any).internal];
export const EngineConsole: new (print: (message: string, level: number) => void) => Record<string, unknown> =
  internals.Console;
const { AsyncVariable, setAsyncContext } = internals.core;

export function newScope<T>(): Scope<T> {
  const variable = new AsyncVariable();
  const enter = variable.enter.bind(variable);
  const get = variable.get.bind(variable);
  return {
    run(value, body, ...args) {
      const before = enter(value);
      try {
        return apply(body, undefined, args);
      } finally {
        setAsyncContext(before);
      }
    },
    get,
  };
}

delete (Deno as any)[(Deno as any).internal];

// Where the name of a SOCKS proxy leads is not looked at by Deno, so that this process is told to use no proxy at all: who
// asks for one must not believe that there is.
const { createHttpClient } = Deno;
Deno.createHttpClient = (options: any) => {
  if (options?.proxy === undefined) return createHttpClient(options);
  throw new NativeTypeError(
    "The requests of a val go by no proxy of Deno's: a package that speaks to one itself, by node:net, can",
  );
};

// Their files would be in one place for all vals; the host keeps that place closed.
delete (globalThis as any).localStorage;
delete (globalThis as any).caches;
