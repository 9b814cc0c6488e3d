// What no val may do, tried: by a val as any other, and by a Deno that is allowed everything, whose worker the system
// alone keeps in.

const given = JSON.parse(Deno.env.get("HAMLET_DOCTOR") ?? "{}");

/** Ends the waiting for an address that does not answer: it was not refused. */
const soon = <T>(promise: Promise<T>): Promise<T | void> =>
  Promise.race([promise, new Promise<void>((resolve) => setTimeout(resolve, 2000))]);

const tries: [layer: string, what: string, attempt: () => unknown][] = [
  ["files", "reading /etc/passwd", () => Deno.readTextFileSync("/etc/passwd")],
  ["files", "reading the server's environment", () => Deno.readTextFileSync(`/proc/${given.server}/environ`)],
  ["files", "reading another worker's folder", () => [...Deno.readDirSync(given.folder)]],
  ["files", "writing outside its folder", () => Deno.writeTextFileSync(`${given.folder}/written`, "")],
  ["files", "writing to the cache of modules", () => Deno.writeTextFileSync(`${given.cache}/written`, "")],
  ["ports", "listening on a port", () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close()],
  // A signal that changes nothing, should it arrive.
  ["signals", "a signal to the server", () => Deno.kill(given.server, "SIGCONT")],
  [
    "programs",
    "starting a program",
    () => new Deno.Command(given.deno, { args: ["--version"] }).outputSync(),
  ],
  ["ipv6", "connecting to ::1", () => soon(Deno.connect({ hostname: "::1", port: given.port }))],
  [
    "permissions",
    "connecting to 127.0.0.1",
    () => soon(Deno.connect({ hostname: "127.0.0.1", port: given.port })),
  ],
  [
    "permissions",
    "connecting to localhost",
    () => soon(Deno.connect({ hostname: "localhost", port: given.port })),
  ],
  ["permissions", "fetching from 127.0.0.1", () => soon(fetch(`http://127.0.0.1:${given.port}/`))],
  [
    "permissions",
    "asking 169.254.169.254",
    () => soon(Deno.connect({ hostname: "169.254.169.254", port: 80 })),
  ],
  ["permissions", "loading native code", () => Deno.dlopen(given.library, {})],
];

const found: { layer: string; what: string; refused: string | null }[] = [];
for (const [layer, what, attempt] of tries) {
  let refused: string | null = null;
  try {
    await attempt();
  } catch (error) {
    const { name, message } = error as Error;
    refused = `${name}: ${message}`;
  }
  found.push({ layer, what, refused });
}
export default found;
