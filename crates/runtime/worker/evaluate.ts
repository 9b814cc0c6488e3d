// Runs that evaluate the module once: scripts, evaluations, ticks of a schedule and e-mails.

import {
  apply,
  fromBase64,
  NativeDate,
  NativeFile,
  NativeTypeError,
  now,
  slice,
  stringify,
} from "./natives.ts";
import { quote, send } from "./channel.ts";
import { flush, type RunLog } from "./console.ts";
import { errorJson } from "./errors.ts";
import { handlerOf, type Module, scriptExport } from "./entry.ts";

// deno-lint-ignore-file no-explicit-any

/** One evaluation; its outcome is sent once, whatever comes later. */
export interface Evaluation {
  over: boolean;
  run: RunLog;
  moduleMs: number | null;
}

export function fail(evaluation: Evaluation, thrown: unknown) {
  if (evaluation.over) return;
  evaluation.over = true;
  flush(evaluation.run);
  send(`{"type":"end","error":${errorJson(thrown)},"module_ms":${evaluation.moduleMs}}`);
}

function succeed(evaluation: Evaluation, value: string | undefined, longest: number) {
  if (evaluation.over) return;
  evaluation.over = true;
  flush(evaluation.run);
  const cut = value !== undefined && value.length > longest;
  const kept = cut ? slice(value, 0, longest) : value;
  send(`{"type":"end","value":${quote(kept)},"cut":${cut},"module_ms":${evaluation.moduleMs}}`);
}

/** The value as JSON: big integers as their digits, everything else as `JSON.stringify` has it. */
function toJson(value: unknown): string | undefined {
  try {
    return stringify(value, (_, part) => typeof part === "bigint" ? `${part}` : part);
  } catch (error) {
    const why = `${(error as any)?.message ?? error}`;
    throw new NativeTypeError(`The value that the val gave can't be written as JSON: ${why}`);
  }
}

function toEmail(message: any): unknown {
  const attachments: File[] = [];
  const given = message.attachments ?? [];
  for (let index = 0; index < given.length; index++) {
    const { name, type, content } = given[index];
    attachments[index] = new NativeFile([fromBase64(content)], name, { type });
  }
  return { ...message, attachments };
}

function give(job: any, module: Module): unknown {
  switch (job.kind) {
    case "interval":
      return handlerOf(module, false)({
        lastRunAt: job.input === null ? undefined : new NativeDate(job.input),
      });
    case "email":
      return handlerOf(module, false)(toEmail(job.input));
    default: {
      const value = scriptExport(module);
      return typeof value === "function" && job.args !== null ? apply(value, undefined, job.args) : value;
    }
  }
}

/** Loads the module, does the job, sends the outcome. Never rejects. */
export async function evaluate(job: any, evaluation: Evaluation) {
  try {
    const began = now();
    const module = await import(job.entry);
    evaluation.moduleMs = now() - began;
    const value = await give(job, module);
    const returns = job.kind === "script" || job.kind === "eval";
    succeed(evaluation, returns ? toJson(value) : undefined, job.value);
  } catch (error) {
    fail(evaluation, error);
  }
}
