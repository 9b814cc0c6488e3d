// A worker's life: wait for the one job, load the val, do the job, and end when nothing is left to do.

import { inspect, loadWeb, NativeURL, now, stringify } from "./natives.ts";
import { receive, send, setKey, stayForHost } from "./channel.ts";
import { log, newRunLog, runOfCode, setFirstRun } from "./console.ts";
import { setLongest } from "./errors.ts";
import { answer } from "./modules.ts";
import { evaluate, type Evaluation, fail } from "./evaluate.ts";
import { handlerOf } from "./entry.ts";
import { reachInstance } from "./instance.ts";
import { reachInstanceByNode } from "./node.ts";
import { reachInstanceFromThreads } from "./threads.ts";
import { retire, serve } from "./serve.ts";

// deno-lint-ignore-file no-explicit-any

/** The module of a thread, which the host puts before this one. */
declare const threadCode: string;

const { env } = Deno;
const queueTask = queueMicrotask;

/** The environment is the job's and nothing of the host's. */
function setEnvironment(variables: [string, string][]) {
  // What Deno has to read later, as the address of an npm registry, is not seen here and stays.
  for (const name of Object.keys(env.toObject())) env.delete(name);
  for (const [name, value] of variables) {
    try {
      env.set(name, value);
    } catch {
      // A name that no system takes, as one with `=` in it: there is no way to have such a variable.
    }
  }
}

/** A worker that serves many runs has no one variable for them all: it names the run whose code asks. */
function nameRun() {
  const variable = "HAMLET_RUN_ID";
  const { get, has, toObject } = env;
  env.get = (name) => name === variable ? runOfCode()?.id : get(name);
  env.has = (name) => name === variable || has(name);
  env.toObject = () => ({ ...toObject(), [variable]: runOfCode()?.id ?? "" });
}

/** Errors that nobody caught end the run, or are lines of its log when it is over already. */
function watchErrors(evaluation: Evaluation) {
  const uncaught = (event: Event, thrown: unknown) => {
    let handled = false;
    event.preventDefault();
    event.preventDefault = () => {
      handled = true;
    };
    // The val's own listeners come after this one and may say that they took care of it.
    queueTask(() => {
      if (handled) return;
      if (evaluation.over) log(3, `Uncaught ${inspect(thrown)}`);
      else fail(evaluation, thrown);
    });
  };
  addEventListener("unhandledrejection", (event) => uncaught(event, event.reason));
  addEventListener("error", (event) => uncaught(event, event.error));
}

async function hearHost() {
  for (;;) {
    const message = await receive();
    if (message.type === "import") answer(message);
    else if (message.type === "retire") retire();
  }
}

async function serveModule(job: any, evaluation: Evaluation) {
  try {
    loadWeb();
    const began = now();
    const handler = handlerOf(await import(job.entry), true);
    evaluation.moduleMs = now() - began;
    serve(handler, job.logs, job.failure_header);
    if (evaluation.over) return;
    evaluation.over = true;
    send(`{"type":"ready"}`);
  } catch (error) {
    fail(evaluation, error);
  }
}

let job = await receive();
while (job.type === "warm") {
  loadWeb();
  job = await receive();
}
setKey(job.key);
setLongest(job.error);
setEnvironment(job.env);
if (job.kind === "http") nameRun();
if (job.api !== null) {
  const { origins, socket } = job.api;
  reachInstance(origins, socket);
  let boot: string | undefined;
  reachInstanceFromThreads(() => {
    const code = `const instance = ${stringify({ origins, socket })};\n${threadCode}`;
    return boot ??= NativeURL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  });
}
if (job.api?.by_node) await reachInstanceByNode(job.api.origins, job.api.socket);
const run = newRunLog(job.run, job.logs);
setFirstRun(run);
const evaluation: Evaluation = { over: false, run, moduleMs: null };
watchErrors(evaluation);
// From here on only the val's own work keeps the process: a function that waits for what can never come ends at once,
// while a module that does so at its top level goes on to the limit.
stayForHost(false);
hearHost();
if (job.kind === "http") serveModule(job, evaluation);
else evaluate(job, evaluation);
