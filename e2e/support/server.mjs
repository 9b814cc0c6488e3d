// The release build of the server on a free port, with a data folder of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = process.env.HAMLET_BIN ??
  fileURLToPath(new URL("../../target/release/hamlet", import.meta.url));

/** How long a start may take; a first start also compiles what workers share. */
const START_MS = 60_000;

/** A running server: its address, the one-time sign-in link that it printed, its owner's name. */
export class Server {
  /**
   * @param {import("node:child_process").ChildProcess} child
   * @param {string} folder
   * @param {{ url: string, link: string }} printed
   */
  constructor(child, folder, printed) {
    this.child = child;
    this.folder = folder;
    this.url = printed.url;
    this.link = printed.link;
    /** The first account takes its name from `USER`. */
    this.owner = "ada";
    /** What the server logged. @type {string[]} */
    this.log = [];
  }

  /**
   * Starts a server with an empty data folder and waits until it is ready.
   * @param {Record<string, string>} [settings] by the names of their environment variables
   */
  static async start(settings = {}) {
    const folder = await mkdtemp(join(tmpdir(), "hamlet-e2e-"));
    const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data")], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HAMLET_DENO: process.env.HAMLET_DENO,
        HOME: folder,
        USER: "ada",
        ...settings,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    /** @type {string[]} */
    const log = [];
    createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
    try {
      const server = new Server(child, folder, await printedBy(child));
      server.log = log;
      return server;
    } catch (error) {
      child.kill("SIGKILL");
      throw new Error(`the server did not start:\n${log.join("\n")}`, { cause: error });
    }
  }

  /** Ends the server as a system would, and takes its folder away. @returns its exit code */
  async stop() {
    if (this.child.exitCode === null) {
      this.child.kill("SIGTERM");
      await once(this.child, "exit");
    }
    await rm(this.folder, { recursive: true, force: true });
    return this.child.exitCode;
  }

  /**
   * Calls the interface with a token.
   * @param {string} token
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   */
  async call(token, method, path, body) {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  }

  /** A user made on the command line while the server runs. @param {string} name @returns their token */
  async createUser(name) {
    const child = spawn(program, ["user", "create", name, "--data-dir", join(this.folder, "data")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (/** @type {Buffer} */ part) => (text += part));
    const [code] = await once(child, "close");
    const token = text.trim().split(/\s+/).at(-1);
    if (code !== 0 || !token) throw new Error(`user create ended with ${code}: ${text}`);
    return token;
  }
}

/**
 * Where the server listens and its sign-in link, from what it prints.
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<{ url: string, link: string }>}
 */
function printedBy(child) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("no sign-in link was printed in time")), START_MS);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    if (!child.stdout) throw new Error("the server's output is not read");
    createInterface({ input: child.stdout }).on("line", (line) => {
      const link = line.match(/(https?:\/\/[^\s/]+)\/login\?link=\S+/);
      if (!link) return;
      clearTimeout(late);
      resolve({ url: link[1], link: link[0] });
    });
  });
}
