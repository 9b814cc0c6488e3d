import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import { spawn } from "node:child_process";

const tries: Record<string, () => unknown> = {
  passwd: () => Deno.readTextFileSync("/etc/passwd"),
  nodeRead: () => fs.readFileSync("/etc/passwd"),
  proc: () => Deno.readTextFileSync("/proc/self/environ"),
  parentFolder: () => [...Deno.readDirSync("..")],
  bootstrap: () => Deno.readTextFileSync("../bootstrap/main.mjs"),
  write: () => Deno.writeTextFileSync("/tmp/hamlet-was-here", ""),
  symlink: () => Deno.symlinkSync("/etc", "link"),
  run: () => new Deno.Command("/bin/true").outputSync(),
  ffi: () => Deno.dlopen("libc.so.6", {}),
  dlopen: () => process.dlopen({ exports: {} }, "/lib/x.node"),
  kill: () => Deno.kill(1, "SIGTERM"),
  hostname: () => Deno.hostname(),
  cpus: () => os.cpus(),
  loopback: () => Deno.connect({ hostname: "127.0.0.1", port: 9 }),
  loopbackName: () => Deno.connect({ hostname: "localhost", port: 9 }),
  loopbackDecimal: () => fetch("http://2130706433:18788/"),
  loopback6: () => Deno.connect({ hostname: "::1", port: 9 }),
  mapped: () => Deno.connect({ hostname: "::ffff:127.0.0.1", port: 9 }),
  unspecified: () => Deno.connect({ hostname: "::", port: 9 }),
  metadata: () => fetch("http://169.254.169.254/latest/meta-data/"),
  privateNetwork: () => fetch("http://10.0.0.1/"),
  nodeNet: () =>
    new Promise((resolve, reject) => net.connect(9, "127.0.0.1").on("connect", resolve).on("error", reject)),
  listen: () => Deno.listen({ port: 0 }),
  otherSocket: () => Deno.connect({ transport: "unix", path: "/run/docker.sock" }),
  importLoopback: () => eval('import("http://127.0.0.1:9/x.js")'),
  importVal: () => eval('import("https://esm.town/v/ada/main")'),
  importFile: () => eval('import("file:///etc/passwd", { with: { type: "text" } })'),
  spawn: () => new Promise((resolve, reject) => spawn("/bin/true").on("spawn", resolve).on("error", reject)),
  internals: () => {
    if ((Deno as any)[(Deno as any).internal] === undefined) throw new Deno.errors.NotCapable();
  },
};

const escaped: string[] = [];
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    escaped.push(name);
  } catch (error) {
    const refused = (error as Error).name === "NotCapable" || /^Requires .* access/.test((error as Error).message);
    if (!refused) escaped.push(`${name}: ${error}`);
  }
}
Deno.writeTextFileSync("mine.txt", "scratch");
export default [escaped, Deno.readTextFileSync("mine.txt")];
