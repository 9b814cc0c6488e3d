import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";

// Node reports some refusals where nobody listens.
addEventListener("error", (event) => event.preventDefault());
addEventListener("unhandledrejection", (event) => event.preventDefault());

const once = (emitter: any, event: string) =>
  new Promise((resolve, reject) => {
    emitter.on("error", reject).on(event, () => {
      resolve(event);
      emitter.destroy();
    });
  });
const opened = (socket: any) =>
  new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = (event: any) => reject(new Error(event.message ?? "refused"));
  }).finally(() => socket.close());
const read = (url: string, init = {}) => fetch(url, init).then((answer) => answer.text());
// Imports that the host does not see beforehand.
const load = (url: string) => eval(`import(${JSON.stringify(url)})`);

// In a thread, and one of the engine's own class, where nothing else stands between code and the proxy of a client.
const EngineWorker: typeof Worker = Object.getPrototypeOf(Worker);
const thread = `onmessage = async ({ data }) => {
  try {
    const client = Deno.createHttpClient({ proxy: data.proxy });
    await (await fetch("http://far.example/", { client })).text();
    postMessage({ id: data.id });
  } catch (error) {
    postMessage({ id: data.id, why: String(error.cause ?? error) });
  }
}`;
let worker: Worker | undefined;
const byProxy = (proxy: object) =>
  new Promise((resolve, reject) => {
    worker ??= new EngineWorker(`data:text/javascript,${encodeURIComponent(thread)}`, { type: "module" });
    const id = crypto.randomUUID();
    worker.addEventListener("message", ({ data }) => {
      if (data.id === id) data.why === undefined ? resolve(id) : reject(new Error(data.why));
    });
    worker.postMessage({ id, proxy });
  });

const routes: Record<string, (host: string, nth: number) => unknown> = {
  fetch: (host) => read(`http://${host}/`),
  "fetch of https": (host) => read(`https://${host}/`),
  "fetch with a body": (host) => read(`http://${host}/`, { method: "POST", body: "x" }),
  "fetch by a client": (host) => read(`http://${host}/`, { client: Deno.createHttpClient({}) } as any),
  "a proxy": (host) => byProxy({ url: `http://${host}/` }),
  "a socks proxy": (host) => byProxy({ url: `socks5://${host}:80` }),
  "a proxy of bytes": (host) => byProxy({ transport: "tcp", hostname: host, port: 80 }),
  "a redirect": (host) => read(`http://sends.example/to/${host}/`),
  connect: async (host) => (await Deno.connect({ hostname: host, port: 80 })).close(),
  connectTls: async (host) => {
    const connection = await Deno.connectTls({ hostname: host, port: 443 });
    await connection.handshake().finally(() => connection.close());
  },
  "node:net": (host) => once(net.connect(80, host), "connect"),
  "node:tls": (host) => once(tls.connect(443, host, { servername: host }), "secureConnect"),
  "node:http": (host) => once(http.get(`http://${host}/`), "response"),
  "node:https": (host) => once(https.get(`https://${host}/`), "response"),
  "node:http2": (host) => once(http2.connect(`http://${host}`), "connect"),
  WebSocket: (host) => opened(new WebSocket(`ws://${host}/`)),
  EventSource: (host) => opened(new EventSource(`http://${host}/events`)),
  import: (host, nth) => import(`http://${host}/module-${nth}.js`),
  "import by https": (host, nth) => import(`https://${host}/module-${nth}.js`),
  "unseen import": (host, nth) => load(`http://${host}/unseen-${nth}.js`),
  "import by a redirect": (host, nth) => load(`http://sends.example/to/${host}/${nth}`),
  worker: (host, nth) =>
    new Promise((resolve, reject) => {
      const remote = new Worker(`http://${host}/worker-${nth}.js`, { type: "module" });
      remote.onmessage = resolve;
      remote.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    }),
};

const soon = (promise: unknown) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 3000, new Error("nothing")))]);

/** How often a way led somewhere; and why it did not, at last. */
export default async (way: string, hosts: string[], tries: number) => {
  const tried = { reached: 0, why: "" };
  await Promise.all(hosts.map(async (host) => {
    for (let nth = 0; nth < tries; nth += 1) {
      try {
        await soon(routes[way](host, nth));
        tried.reached += 1;
      } catch (error) {
        tried.why = String((error as Error)?.message ?? error);
      }
    }
  }));
  worker?.terminate();
  return tried;
};

export const ways = Object.keys(routes);
