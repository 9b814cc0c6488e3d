// The two ways between worker and host: a socket on which the host speaks, and a pipe on which the worker does. Writing
// to the pipe is synchronous, so that what a val printed before an endless loop is not lost, and a val that prints
// faster than the host reads waits.

import {
  bytesFrom,
  cwd,
  decode,
  encode,
  exit,
  lengthOf,
  NativeBytes,
  parse,
  stringify,
  toWellFormed,
  uncurry,
} from "./natives.ts";

const pipe = Deno.openSync(`${cwd}/pipe`, { write: true });
const socket = await Deno.connect({ transport: "unix", path: `${cwd}/socket` });
const writePipe = uncurry(pipe.writeSync).bind(undefined, pipe) as (bytes: Uint8Array) => number;
const readSocket = uncurry(socket.read).bind(undefined, socket) as (
  bytes: Uint8Array,
) => Promise<number | null>;
const refSocket = socket.ref.bind(socket);
const unrefSocket = socket.unref.bind(socket);

let key = "";

/** The key that marks what the worker itself sends; a val never sees it. */
export function setKey(given: string) {
  key = given;
}

/** Sends one line: JSON that begins with `{`, or what a run printed. */
export function send(body: string) {
  const bytes = encode(`${key}${body}\n`);
  const length = lengthOf(bytes);
  let sent = writePipe(bytes);
  while (sent < length) sent += writePipe(bytesFrom(bytes, sent));
}

/** A text as JSON that any reader takes: half a character, as a cut may leave it, becomes a sign for what is missing. */
export const quote = (text: string | undefined): string =>
  text === undefined ? "null" : stringify(toWellFormed(text));

/** Whether the worker stays alive to hear what the host says next. */
export function stayForHost(stay: boolean) {
  if (stay) refSocket();
  else unrefSocket();
}

/** The host's next message; a worker whose host is gone ends itself. */
// deno-lint-ignore no-explicit-any
export async function receive(): Promise<any> {
  const head = await fill(new NativeBytes(4));
  const length = head[0] * 0x1000000 + head[1] * 0x10000 + head[2] * 0x100 + head[3];
  return parse(decode(await fill(new NativeBytes(length))));
}

async function fill(bytes: Uint8Array): Promise<Uint8Array> {
  const length = lengthOf(bytes);
  let filled = 0;
  while (filled < length) {
    const count = await readSocket(bytesFrom(bytes, filled));
    if (count === null) exit(0);
    filled += count;
  }
  return bytes;
}
