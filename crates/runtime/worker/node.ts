// The instance as node's own modules reach it.

import { apply, mapGet, mapSet, NativeMap, NativeURL, startsWith, toLowerCase } from "./natives.ts";

// deno-lint-ignore-file no-explicit-any

/** Host and port as one text; what is not said is as node reads it. */
const placeOf = (host: unknown, port: unknown) => `${toLowerCase(`${host ?? "localhost"}`)} ${port}`;

/**
 * Has a socket to one of the instance's own origins, as `node:http` and what is built on it open them, lead to `path`.
 * It loads node's sockets, and with them much of what node has: this is for code that does so itself. Origins with TLS
 * stay what they are, as nothing there speaks it.
 */
export async function reachInstanceByNode(origins: string[], path: string) {
  const { default: net } = await import("node:net") as any;
  const { Socket, _normalizeArgs: normalize } = net;
  const { connect } = Socket.prototype;
  const { isArray } = Array;
  const own = new NativeMap<string, boolean>();
  for (let index = 0; index < origins.length; index++) {
    if (!startsWith(origins[index], "http:")) continue;
    const { hostname, port } = new NativeURL(origins[index]);
    // An IPv6 address stands in brackets in an origin alone.
    const host = startsWith(hostname, "[") ? hostname.slice(1, -1) : hostname;
    mapSet(own, placeOf(host, port === "" ? 80 : port), true);
  }
  Socket.prototype.connect = function (...args: any[]) {
    // Node's own callers pass the list that this makes of what they were given.
    const [options, done] = normalize(isArray(args[0]) ? args[0] : args);
    const isOwn = !options.path && mapGet(own, placeOf(options.host, options.port)) === true;
    if (!isOwn) return apply(connect, this, args);
    return apply(connect, this, [{ ...options, path }, done]);
  };
}
