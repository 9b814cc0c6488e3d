import dgram from "node:dgram";
import dns from "node:dns";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";

// Node reports some refusals where nobody listens.
addEventListener("error", (event) => event.preventDefault());
addEventListener("unhandledrejection", (event) => event.preventDefault());

const port = Number(Deno.env.get("TRAP_PORT"));
const path = Deno.env.get("TRAP_SOCKET")!;
const { HTTP_PROXY } = Deno.env.toObject();
const as = (address: string) => (_: unknown, options: any, found: any) =>
  options.all ? found(null, [{ address, family: 4 }]) : found(null, address, 4);
const once = (emitter: any, event: string) =>
  new Promise((resolve, reject) => emitter.on(event, resolve).on("error", reject));
const through = (proxy: any, url = "http://example.com/") =>
  fetch(url, { client: Deno.createHttpClient({ proxy }) });
const opened = (socket: any) =>
  new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("refused"));
  });
const datagram = (
  send: (socket: dgram.Socket, done: (error: unknown) => void) => void,
  options: any = "udp4",
) =>
  new Promise((resolve, reject) => {
    const socket = dgram.createSocket(options).on("error", reject);
    send(socket, (error) => error ? reject(error) : resolve("sent"));
  });

const hosts = [
  "127.0.0.1",
  "127.0.0.2",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "0",
  "0.0.0.0",
  "127.1",
  "0177.0.0.1",
  "0x7f000001",
  "2130706433",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[fe80::1]",
  "[fd00::1]",
  "[fd00:ec2::254]",
  "10.0.0.1",
  "100.100.100.200",
  "169.254.169.254",
  "172.16.0.1",
  "192.168.0.1",
  "198.18.0.1",
];
const tries: Record<string, () => unknown> = {
  redirect: () => fetch(`http://127.0.0.1:18787/redirect/${port}`).then((answer) => answer.text()),
  webSocket: () => opened(new WebSocket(`ws://localhost:${port}/`)),
  eventSource: () => opened(new EventSource(`http://localhost:${port}/`)),
  tls: () => Deno.connectTls({ hostname: "localhost", port }),
  nodeTls: () => once(tls.connect(port, "localhost"), "secureConnect"),
  nodeNet: () => once(net.connect(port, "localhost"), "connect"),
  nodeNetLookup: () =>
    once(net.connect({ port, host: "example.com", lookup: as("127.0.0.1") } as any), "connect"),
  nodeHttp: () => once(http.get(`http://localhost:${port}/`), "response"),
  nodeHttpLookup: () =>
    once(http.get({ port, host: "example.com", lookup: as("127.0.0.1") } as any), "response"),
  nodeHttp2: () => once(http2.connect(`http://localhost:${port}`), "connect"),
  datagram: () => datagram((socket, done) => socket.send("x", port, "127.0.0.1", done)),
  datagramName: () => datagram((socket, done) => socket.send("x", port, "localhost", done)),
  datagramConnect: () =>
    datagram((socket, done) => socket.connect(port, "127.0.0.1", (() => socket.send("x", done)) as any)),
  datagramLookup: () =>
    datagram((socket, done) => socket.send("x", port, "example.com", done), {
      type: "udp4",
      lookup: as("127.0.0.1"),
    }),
  datagramBind: () => datagram((socket, done) => socket.bind(0, () => done(null))),
  nameServer: () => Deno.resolveDns("example.com", "A", { nameServer: { ipAddr: "127.0.0.1", port } }),
  nodeNameServer: () => {
    const resolver = new dns.promises.Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    return resolver.resolve4("example.com");
  },
  proxy: () => through({ url: `http://127.0.0.1:${port}` }),
  proxyName: () => through({ url: `http://localhost:${port}` }),
  proxySocks: () => through({ url: `socks5://127.0.0.1:${port}` }),
  proxyTcp: () => through({ transport: "tcp", hostname: "127.0.0.1", port }),
  proxySocket: () => through({ transport: "unix", path }),
  proxyVariable: () => {
    if (HTTP_PROXY === undefined) throw new Error("the variable should be set");
    return fetch("http://example.com/");
  },
  proxyVariableLater: () => {
    Deno.env.set("HTTPS_PROXY", `http://127.0.0.1:${port}`);
    return fetch("https://example.com/", { client: Deno.createHttpClient({}) });
  },
  registry: () => {
    Deno.env.set("NPM_CONFIG_REGISTRY", `http://127.0.0.1:${port}`);
    return eval('import("npm:hamlet-no-such-package")');
  },
  jsr: () => {
    Deno.env.set("JSR_URL", `http://127.0.0.1:${port}`);
    return eval('import("jsr:@hamlet/no-such-package")');
  },
  import: () => eval(`import("http://localhost:${port}/x.js")`),
  worker: () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(
        `data:text/javascript,import("http://localhost:${port}/x.js").then(postMessage)`,
        {
          type: "module",
        },
      );
      worker.onmessage = resolve;
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    }),
  socket: () => Deno.connect({ transport: "unix", path }),
  nodeSocket: () => once(net.connect(path), "connect"),
  listen: () => Deno.listen({ port: 0 }),
  listenLoopback: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  nodeListen: () => once(net.createServer().listen(0), "listening"),
  serve: () => Deno.serve({ port: 0, onListen() {} }, () => new Response("")).finished,
  inspector: () => import("node:inspector").then((inspector) => inspector.open(port + 1, "127.0.0.1")),
};
for (const host of hosts) {
  tries[`fetch ${host}`] = () => fetch(`http://${host}:${port}/`);
  tries[`connect ${host}`] = () => Deno.connect({ hostname: host.replace(/[[\]]/g, ""), port });
}

// What hears nothing for so long was swallowed: the trap tells whether it arrived.
const soon = (promise: unknown) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 1500, new Error("nothing")))]);
const reached: string[] = [];
await Promise.all(
  Object.entries(tries).map(async ([name, attempt]) => {
    try {
      await soon(attempt());
      reached.push(name);
    } catch {
      // Refused.
    }
  }),
);
export default reached;
setTimeout(() => Deno.exit(), 100);
