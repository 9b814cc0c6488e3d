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

const routes: Record<string, (host: string, nth: number) => unknown> = {
  fetch: (host) => read(`http://${host}/`),
  "fetch of https": (host) => read(`https://${host}/`),
  "fetch with a body": (host) => read(`http://${host}/`, { method: "POST", body: "x" }),
  "fetch by a client": (host) => read(`http://${host}/`, { client: Deno.createHttpClient({}) } as any),
  "a proxy": (host) =>
    read("http://far.example/", {
      client: Deno.createHttpClient({ proxy: { url: `http://${host}/` } }),
    } as any),
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
      const worker = new Worker(`http://${host}/worker-${nth}.js`, { type: "module" });
      worker.onmessage = resolve;
      worker.onerror = (event) => {
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
  return tried;
};

export const ways = Object.keys(routes);
