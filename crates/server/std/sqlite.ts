/** SQLite: one database an account, shared by all of its vals. */

import { call, reason } from "https://esm.town/v/std/client";

/** What can be bound to a parameter. */
export type Value = null | string | number | bigint | boolean | Uint8Array | Date;
/** Parameters by position, or by name without the `:`, `@` or `$`. */
export type Args = Value[] | Record<string, Value>;
/** SQL, with its parameters or alone. */
export type Statement = string | { sql: string; args?: Args };
/** How a batch locks the database. */
export type Mode = "write" | "read" | "deferred";

/** What a statement answers. */
export interface ResultSet {
  columns: string[];
  columnTypes: string[];
  rows: unknown[][];
  rowsAffected: number;
  lastInsertRowid: number | null;
}

/** A statement was refused or failed. */
export class SqliteError extends Error {
  override name = "SqliteError";
}

/** Values that JSON can't carry as they are. */
function plain(value: Value): unknown {
  if (typeof value === "bigint") {
    if (BigInt.asIntN(64, value) !== value) {
      throw new SqliteError(`${value} can't be bound to a parameter: SQLite's whole numbers have 64 bits.`);
    }
    return rawJson(value.toString());
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new SqliteError(`${value} can't be bound to a parameter: it has to be a finite number, or null.`);
  }
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return { base64: value.toBase64() };
  return value;
}

/** JSON that is written as it is: digits that a number would round. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

function wire(statement: Statement): unknown {
  if (typeof statement === "string") return statement;
  const { sql, args } = statement;
  if (args === undefined) return { sql };
  if (Array.isArray(args)) return { sql, args: args.map(plain) };
  return { sql, args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, plain(value)])) };
}

async function send(path: string, body: unknown): Promise<Response> {
  const response = await call(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new SqliteError(await reason(response));
  return response;
}

/** Runs one statement. */
export async function execute(statement: Statement): Promise<ResultSet> {
  return await (await send("v1/sqlite/execute", { statement: wire(statement) })).json();
}

/** Runs statements in one transaction: all of them, or none. */
export async function batch(statements: Statement[], mode: Mode = "deferred"): Promise<ResultSet[]> {
  return await (await send("v1/sqlite/batch", { statements: statements.map(wire), mode })).json();
}

export const sqlite = { execute, batch };
