import childProcess from "node:child_process";
import cluster from "node:cluster";
import { createRequire } from "node:module";
import { Worker as NodeWorker } from "node:worker_threads";

const deno = Deno.execPath();
const once = (emitter: any, event: string) =>
  new Promise((resolve, reject) => emitter.on(event, resolve).on("error", reject));
const ran = (result: { status: number | null }) => {
  if (result.status !== 0) throw new Error("refused");
};
const engine = process as any;
const require = createRequire(`file://${Deno.cwd()}/`);

const tries: Record<string, () => unknown> = {
  output: () => new Deno.Command(deno, { args: ["--version"] }).output(),
  outputSync: () => new Deno.Command("/bin/true").outputSync(),
  spawn: () => new Deno.Command("sh").spawn(),
  relative: () => new Deno.Command("./program").spawn(),
  run: () => (Deno as any).run({ cmd: ["/bin/true"] }),
  nodeSpawn: () => once(childProcess.spawn("/bin/true"), "spawn"),
  nodeSpawnShell: () => once(childProcess.spawn("true", { shell: true }), "spawn"),
  nodeSpawnSync: () => ran(childProcess.spawnSync("/bin/true")),
  nodeExec: () =>
    new Promise((resolve, reject) =>
      childProcess.exec("true", (error) => error ? reject(error) : resolve(1))
    ),
  nodeExecSync: () => childProcess.execSync("true"),
  nodeExecFile: () => childProcess.execFileSync("/bin/true"),
  nodeFork: () => once(childProcess.fork(`${Deno.cwd()}/program`), "spawn"),
  cluster: () => once(cluster.fork(), "online"),
  binding: () => engine.binding("spawn_sync").spawn({ file: "/bin/true", args: [] }),
  processWrap: () => new (engine.binding("process_wrap").Process)().spawn({ file: "/bin/true", args: [] }),
  execve: () => engine.execve("/bin/true", ["true"], {}),
  required: () => ran(require("node:child_process").spawnSync("/bin/true")),
  inWorker: () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(
        `data:text/javascript,try { new Deno.Command("/bin/true").outputSync(); postMessage("ran") } catch { postMessage("") }`,
        { type: "module" },
      );
      worker.onmessage = ({ data }) => data === "ran" ? resolve(1) : reject(new Error("refused"));
    }),
  inNodeWorker: () => {
    const worker = new NodeWorker(
      `const { parentPort } = require("node:worker_threads");
       parentPort.postMessage(require("node:child_process").spawnSync("/bin/true").status === 0 ? "ran" : "");`,
      { eval: true },
    );
    return new Promise((resolve, reject) => {
      worker.on("message", (said) => said === "ran" ? resolve(1) : reject(new Error("refused"))).on(
        "error",
        reject,
      );
    });
  },
};

Deno.writeTextFileSync("program", "#!/bin/sh\ntrue\n");
Deno.chmodSync("program", 0o755);
const soon = (promise: unknown) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 3000, new Error("nothing")))]);
const ranPrograms: string[] = [];
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await soon(attempt());
    ranPrograms.push(name);
  } catch {
    // Refused.
  }
}
export default ranPrograms;
setTimeout(() => Deno.exit(), 100);
