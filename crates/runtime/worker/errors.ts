// What was thrown, in the shape that runs keep.

import { inspect, NativeTypeError, slice } from "./natives.ts";
import { quote } from "./channel.ts";

let longest = 100_000;

/** The most characters of a message or a stack that are sent. */
export function setLongest(characters: number) {
  longest = characters;
}

/** A rule of a val's kind that was broken; it has no frames of its own to show. */
export function ruleBroken(message: string): TypeError {
  const error = new NativeTypeError(message);
  error.stack = `TypeError: ${message}`;
  return error;
}

function text(read: () => unknown, otherwise: string): string {
  try {
    const value = read();
    return typeof value === "string" ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function shown(value: unknown): string {
  try {
    return typeof value === "string" ? value : inspect(value);
  } catch {
    return "a value that can't be shown";
  }
}

function stackOf(thrown: object, depth: number): string {
  // deno-lint-ignore no-explicit-any
  const error = thrown as any;
  let stack = text(() => error.stack, "");
  let cause: unknown;
  try {
    cause = error.cause;
  } catch {
    cause = undefined;
  }
  if (cause !== undefined && cause !== null && depth < 4) {
    const inner = typeof cause === "object" ? stackOf(cause, depth + 1) || shown(cause) : shown(cause);
    stack += `\nCaused by: ${inner}`;
  }
  return stack;
}

/** JSON of `{name, message, stack, cut}`, whatever was thrown. */
export function errorJson(thrown: unknown): string {
  let name = "Error";
  let message;
  let stack = "";
  if (typeof thrown === "object" && thrown !== null) {
    // deno-lint-ignore no-explicit-any
    const error = thrown as any;
    stack = stackOf(thrown, 0);
    name = text(() => error.name, "Error");
    message = text(() => error.message, stack === "" ? shown(thrown) : "");
  } else {
    message = shown(thrown);
  }
  const cut = message.length > longest || stack.length > longest;
  return `{"name":${quote(slice(name, 0, 200))},"message":${quote(slice(message, 0, longest))},` +
    `"stack":${quote(slice(stack, 0, longest))},"cut":${cut}}`;
}
