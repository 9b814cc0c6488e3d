// The val's console: formatted as Deno does it, sent line by line, each to the run it belongs to.

import { defineProperty, EngineConsole, newScope, ownKeys, slice } from "./natives.ts";
import { quote, send } from "./channel.ts";

/** A run as its console sees it. */
export interface RunLog {
  id: string;
  /** How many characters may still be sent. */
  left: number;
  cutLines: number;
  cutCharacters: number;
}

/** What a line costs beside its characters, as the host counts it: many empty ones are as much of a flood. */
const besideText = 8;

export const scope = newScope<RunLog>();

/** Where lines go that belong to no request: the run that the worker was started for. */
let first: RunLog | undefined;

export function setFirstRun(run: RunLog) {
  first = run;
}

/** The run that the code belongs to that asks. */
export const runOfCode = (): RunLog | undefined => scope.get() ?? first;

export const newRunLog = (id: string, left: number): RunLog => ({ id, left, cutLines: 0, cutCharacters: 0 });

/** Tells the host how much has been cut of a run's lines so far. */
function tellCut(run: RunLog) {
  send(`{"type":"cut","run":${quote(run.id)},"lines":${run.cutLines},"characters":${run.cutCharacters}}`);
}

export function log(level: number, message: string) {
  const run = runOfCode();
  if (run === undefined) return;
  if (run.left === 0 || message.length > run.left) {
    run.cutLines += 1;
    run.cutCharacters += message.length - run.left;
    message = slice(message, 0, run.left);
    // Often enough that a run which is killed says about how much is missing, seldom enough to cost nothing.
    if (run.cutLines === 1 || run.cutLines % 4096 === 0) {
      if (message !== "") line(run, level, message);
      run.left = 0;
      return tellCut(run);
    }
    if (message === "") return;
  }
  const left = run.left - message.length - besideText;
  run.left = left > 0 ? left : 0;
  line(run, level, message);
}

/** The shortest form there is: lines are what a worker says most. */
function line(run: RunLog, level: number, message: string) {
  send(`${level}${run.id}${quote(message)}`);
}

/** To be called when a run has ended: what was cut since the last word of it. */
export function flush(run: RunLog) {
  if (run.cutLines > 1) tellCut(run);
}

/** Level of `console.trace`, which prints its text and its line break one after the other. */
const TRACE = 4;

function print(message: string, level: number) {
  if (level === TRACE) {
    if (message !== "\n") log(1, message);
    return;
  }
  log(level, message.length > 0 && message[message.length - 1] === "\n" ? slice(message, 0, -1) : message);
}

const methods = new EngineConsole(print);
const names = ownKeys(methods);
for (let index = 0; index < names.length; index++) {
  const name = names[index] as string;
  if (typeof methods[name] !== "function" || name === "clear") continue;
  defineProperty(console, name, {
    value: methods[name],
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
// There is no screen to clear, and the codes that do it are noise in a log.
console.clear = () => {};
