// One request to the instance and its answer, on a connection of its own: frames with their length before them, a head
// in JSON, the body in pieces, and an empty one at its end. The engine's own client can't be used, since this process is
// told to use no proxy, and a socket is one to it.

import {
  decode,
  encode,
  lengthOf,
  loadWeb,
  NativeBytes,
  NativeForgotten,
  NativePromise,
  NativeTypeError,
  parse,
  stringify,
} from "./natives.ts";

const { connect } = Deno;

/** The largest piece of a body that is sent at once. */
const longestPiece = 64 << 10;

/** Closes what an answer came by whose body nobody will read any more. */
const forgotten = new NativeForgotten<Deno.Conn>(shut);

/** Asks the instance, by its socket, for what is at a path. */
export async function exchange(socket: string, path: string, request: Request): Promise<Response> {
  const web = loadWeb();
  const signal = web.requestSignal(request);
  signal.throwIfAborted();
  const headers: [string, string][] = [];
  web.headersEach(web.requestHeaders(request), (value, name) => headers[headers.length] = [name, value]);
  const method = web.requestMethod(request);
  const connection = await connect({ transport: "unix", path: socket });
  const end = () => shut(connection);
  signal.addEventListener("abort", end);
  try {
    await writeFrame(connection, encode(stringify({ method, path, headers })));
    const sending = sendBody(connection, web.requestBody(request));
    const head = parse(decode(
      await new NativePromise<Uint8Array>((resolve, reject) => {
        readFrame(connection).then(resolve, reject);
        sending.catch(reject);
      }),
    ));
    const { status, reason } = head;
    let body: Uint8Array<ArrayBuffer> | ReadableStream | null = null;
    if (method === "HEAD" || status === 204 || status === 205 || status === 304) {
      end();
    } else if (head.whole) {
      body = await readFrame(connection);
      end();
    } else {
      body = streamOf(connection, signal);
    }
    return new web.NativeResponse(body, { status, statusText: reason, headers: head.headers });
  } catch (error) {
    end();
    throw signal.aborted ? signal.reason : error;
  }
}

/** The pieces of an answer's body as they are asked for. */
function streamOf(connection: Deno.Conn, signal: AbortSignal): ReadableStream {
  const stream = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const piece = await readFrame(connection);
        if (lengthOf(piece) > 0) return controller.enqueue(piece);
        shut(connection);
        controller.close();
        controller.byobRequest?.respond(0);
      } catch (error) {
        shut(connection);
        throw signal.aborted ? signal.reason : error;
      }
    },
    cancel() {
      shut(connection);
    },
  });
  forgotten.register(stream, connection);
  return stream;
}

/** Fails only by the body's own fault: an instance that takes no more of it has answered already, or is gone. */
async function sendBody(connection: Deno.Conn, body: ReadableStream | null) {
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true };
    const length = done ? 0 : lengthOf(value);
    try {
      for (let from = 0; from < length; from += longestPiece) {
        await writeFrame(connection, value.subarray(from, from + longestPiece));
      }
      if (done) return await writeFrame(connection, new NativeBytes(0));
    } catch (error) {
      reader?.cancel(error).catch(() => {});
      return;
    }
  }
}

async function writeFrame(connection: Deno.Conn, bytes: Uint8Array) {
  const length = lengthOf(bytes);
  const frame = new NativeBytes(4 + length);
  for (let index = 0; index < 4; index++) frame[index] = length >>> (24 - 8 * index);
  frame.set(bytes, 4);
  let sent = 0;
  while (sent < 4 + length) sent += await connection.write(frame.subarray(sent));
}

async function readFrame(connection: Deno.Conn): Promise<Uint8Array<ArrayBuffer>> {
  const [a, b, c, d] = await readWhole(connection, 4);
  return readWhole(connection, ((a << 24) | (b << 16) | (c << 8) | d) >>> 0);
}

async function readWhole(connection: Deno.Conn, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new NativeBytes(length);
  let received = 0;
  while (received < length) {
    const more = await connection.read(bytes.subarray(received));
    if (more === null) throw new NativeTypeError("the instance broke off its answer");
    received += more;
  }
  return bytes;
}

function shut(connection: Deno.Conn) {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
