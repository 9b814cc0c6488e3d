import fs from "node:fs";
import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";

const { VICTIM_PID, VICTIM_FOLDER, SERVER_PID, CACHE_FOLDER } = Deno.env.toObject();
const files = [
  "/etc/passwd",
  "/etc/shadow",
  "/etc/hosts",
  "/proc/self/environ",
  "/proc/self/maps",
  "/proc/self/mem",
  "/proc/self/root/etc/passwd",
  "/proc/thread-self/environ",
  "/proc/1/cmdline",
  "/proc/cpuinfo",
  "/proc/mounts",
  "/dev/mem",
  "/sys/kernel/version",
  "/var/run/secrets/kubernetes.io/serviceaccount/token",
];
for (const pid of [VICTIM_PID, SERVER_PID]) {
  for (const file of ["cmdline", "environ", "maps", "mem", "status", "cwd", "root/etc/passwd", "fd/0"]) {
    files.push(`/proc/${pid}/${file}`);
  }
}
const folders = [
  "/",
  "/proc",
  "/home",
  "/root",
  "/tmp",
  "..",
  "../..",
  VICTIM_FOLDER,
  CACHE_FOLDER,
  `/proc/${SERVER_PID}/fd`,
];
const require = createRequire(`file://${Deno.cwd()}/`);

const tries: Record<string, () => unknown> = {
  writeVictim: () => Deno.writeTextFileSync(`${VICTIM_FOLDER}/hamlet-module-0.mjs`, "export default 1"),
  removeVictim: () => Deno.removeSync(VICTIM_FOLDER, { recursive: true }),
  connectVictim: () => Deno.connect({ transport: "unix", path: `${VICTIM_FOLDER}/http` }),
  writeCache: () => Deno.writeTextFileSync(`${CACHE_FOLDER}/remote`, ""),
  writeTmp: () => Deno.writeTextFileSync("/tmp/hamlet-was-here", ""),
  tempFile: () => Deno.makeTempFileSync(),
  symlink: () => Deno.symlinkSync("/etc", "link"),
  nodeSymlink: () => fs.symlinkSync("/etc", "link"),
  link: () => Deno.linkSync("/etc/passwd", "link"),
  linkVictim: () => fs.linkSync(`${VICTIM_FOLDER}/http`, "victim"),
  rename: () => Deno.renameSync(`${VICTIM_FOLDER}`, "victim"),
  copy: () => Deno.copyFileSync("/etc/passwd", "passwd"),
  chdir: () => Deno.chdir("/"),
  watch: () => Deno.watchFs("/etc"),
  stat: () => Deno.statSync("/etc/passwd"),
  exists: () => {
    if (!fs.existsSync("/etc/passwd")) throw new Error("not told");
  },
  fetch: () => fetch("file:///etc/passwd"),
  require: () => require("/etc/passwd"),
  importText: () => eval('import("file:///etc/passwd", { with: { type: "text" } })'),
  importBytes: () => eval('import("file:///etc/passwd", { with: { type: "bytes" } })'),
  importBootstrap: async () => {
    // It is loaded already, so that Deno lets anyone have it: there must be nothing in it.
    const own = await eval(`import(${JSON.stringify(Deno.mainModule)})`);
    if (Object.keys(own).length === 0) throw new Error("empty");
  },
  worker: () =>
    new Promise((resolve, reject) => {
      const worker = new Worker("file:///etc/passwd", { type: "module" });
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    }),
  database: () => new DatabaseSync(`${CACHE_FOLDER}/own.db`),
  attach: () => new DatabaseSync(":memory:").exec(`ATTACH '${CACHE_FOLDER}/dep_analysis_cache_v2' AS other`),
  vacuum: () => new DatabaseSync(":memory:").exec("VACUUM INTO '/tmp/hamlet-was-here'"),
  environmentFile: () => process.loadEnvFile("/etc/environment"),
  umask: () => Deno.umask(0),
  openFile: () => Deno.openSync("/etc/passwd"),
  nul: () => Deno.readTextFileSync(`${Deno.cwd()}/x\0/etc/passwd`),
  ask: async () => {
    const { state } = await Deno.permissions.request({ name: "read", path: "/etc" });
    if (state !== "granted") throw new Error(state);
  },
};
for (const file of files) {
  tries[file] = () => Deno.readTextFileSync(file);
  tries[`node ${file}`] = () => fs.readFileSync(file);
}
for (const folder of folders) {
  tries[folder] = () => [...Deno.readDirSync(folder)];
  tries[`node ${folder}`] = () => fs.readdirSync(folder);
}
const opened: string[] = [];
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    opened.push(name);
  } catch {
    // Refused.
  }
}
export default opened;
