// Requests to the instance itself: they go through a socket of this worker, since the network would refuse a private
// address, and are in all else what `fetch` makes of them.

import {
  addressOf,
  defineProperty,
  isReadBy,
  loadWeb,
  NativeTypeError,
  NativeURL,
  slice,
  startsWith,
  urlHref,
  urlOrigin,
} from "./natives.ts";
import { exchange } from "./exchange.ts";

// deno-lint-ignore-file no-explicit-any

/** As many redirects as `fetch` follows. */
const mostRedirects = 20;
/** What `fetch` takes beside the address. */
const options = [
  "body",
  "cache",
  "credentials",
  "duplex",
  "headers",
  "integrity",
  "keepalive",
  "method",
  "mode",
  "redirect",
  "referrer",
  "referrerPolicy",
  "signal",
];
/** Headers that say what a body is. */
const aboutBody = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
];
/** Headers that are for one origin alone. */
const forOrigin = ["authorization", "cookie", "proxy-authorization"];

/** Has `fetch` reach the instance by any of its own origins. */
export function reachInstance(origins: string[], path: string) {
  const native = globalThis.fetch;

  const isOwn = (url: URL): boolean => {
    const origin = urlOrigin(url);
    for (let index = 0; index < origins.length; index++) if (origins[index] === origin) return true;
    return false;
  };

  /** Sends to the instance, and goes where it leads. */
  const send = async (from: URL, input: unknown, init: any): Promise<Response> => {
    const web = loadWeb();
    const request = isReadBy(web.requestUrl, input) ? input as Request : undefined;
    let given = chosen(init);
    const redirect = given.redirect ?? (request === undefined ? "follow" : web.requestRedirect(request));
    let url = from;
    const first = new web.NativeRequest(request ?? urlHref(from), given);
    let response = await exchange(path, pathOf(url), first);
    if (request !== undefined) given = takeOver(given, request);
    for (let count = 0;; count++) {
      const to = redirect === "manual" ? undefined : leadsTo(response, url);
      if (to === undefined) return told(response, urlOrigin(url) + pathOf(url), count > 0);
      if (redirect === "error") throw new NativeTypeError(`${urlHref(url)} leads to ${urlHref(to)}`);
      if (count === mostRedirects) throw new NativeTypeError(`${urlHref(from)} leads on and on`);
      again(given, web.responseStatus(response), urlOrigin(url) === urlOrigin(to));
      web.responseBody(response)?.cancel();
      url = to;
      if (!isOwn(url)) {
        const response = await native(urlHref(url), { ...given, redirect: "follow" });
        return told(response, web.responseUrl(response), true);
      }
      response = await exchange(path, pathOf(url), new web.NativeRequest(urlHref(url), given));
    }
  };

  globalThis.fetch = function fetch(input: any, init?: any) {
    const address = addressOf(input);
    const url = address === undefined ? undefined : parsed(address);
    return url === undefined || !isOwn(url) ? native(input, init) : send(url, input, init);
  };
}

/** The address, if it is one. */
export function parsed(address: string, base?: string): URL | undefined {
  try {
    return new NativeURL(address, base);
  } catch {
    return undefined;
  }
}

/** Path and query. */
function pathOf(url: URL): string {
  const href = urlHref(url);
  let from = 0;
  for (let slashes = 0; from < href.length; from++) if (href[from] === "/" && ++slashes === 3) break;
  let to = from;
  while (to < href.length && href[to] !== "#") to++;
  return slice(href, from, to);
}

/** The options of a request, each read once, wherever they are kept. */
function chosen(init: any): any {
  const given: any = {};
  if (init === undefined || init === null) return given;
  for (let index = 0; index < options.length; index++) {
    const value = init[options[index]];
    if (value !== undefined) given[options[index]] = value;
  }
  return given;
}

/** What a next request has of the `Request` that the first one was. */
function takeOver(given: any, request: Request): any {
  const web = loadWeb();
  const body = web.requestBody(request) ?? undefined;
  return {
    body,
    headers: web.requestHeaders(request),
    method: web.requestMethod(request),
    signal: web.requestSignal(request),
    ...given,
  };
}

/** Where a response leads, if anywhere. */
function leadsTo(response: Response, from: URL): URL | undefined {
  const web = loadWeb();
  const status = web.responseStatus(response);
  if (status !== 301 && status !== 302 && status !== 303 && status !== 307 && status !== 308) {
    return undefined;
  }
  const location = web.headersGet(web.responseHeaders(response), "location");
  if (location === null) return undefined;
  const to = parsed(location, urlHref(from));
  if (to === undefined || !(startsWith(urlHref(to), "http:") || startsWith(urlHref(to), "https:"))) {
    throw new NativeTypeError(`${urlHref(from)} leads to ${location}, which is no address`);
  }
  return to;
}

/** Makes of the options of a request those of the next one. */
function again(given: any, status: number, sameOrigin: boolean) {
  const { NativeHeaders, headersDelete, streamLocked } = loadWeb();
  const headers = new NativeHeaders(given.headers);
  const forget = (names: string[]) => {
    for (let index = 0; index < names.length; index++) headersDelete(headers, names[index]);
  };
  const method = given.method ?? "GET";
  const isPost = method === "POST" || method === "post";
  const reads = method === "GET" || method === "HEAD" || method === "get" || method === "head";
  if ((status === 303 && !reads) || (status < 303 && isPost)) {
    given.method = "GET";
    given.body = undefined;
    forget(aboutBody);
  } else if (isReadBy(streamLocked, given.body)) {
    throw new NativeTypeError(
      "The request was led elsewhere, and a body that is a stream can't be sent again",
    );
  }
  if (!sameOrigin) forget(forOrigin);
  given.headers = headers;
}

/** The response as from the address that it is of. */
function told(response: Response, url: string, redirected: boolean): Response {
  const { cloneResponse } = loadWeb();
  const hidden = (value: unknown) => ({ value, configurable: true, writable: true });
  defineProperty(response, "url", hidden(url));
  defineProperty(response, "redirected", hidden(redirected));
  defineProperty(response, "clone", hidden(() => told(cloneResponse(response), url, redirected)));
  return response;
}
