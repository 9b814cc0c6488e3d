/** Blobs: bytes kept by key for one account, shared by all of its vals. */

import { call, reason } from "https://esm.town/v/std/client";

/** An entry of a list of blobs. */
export interface BlobListItem {
  key: string;
  /** Bytes. */
  size: number;
  /** RFC 3339. */
  lastModified: string;
}

/** A blob could not be read or written. */
export class ValTownBlobError extends Error {
  override name = "ValTownBlobError";
}

/** There is no blob of this key. */
export class ValTownBlobNotFoundError extends ValTownBlobError {
  override name = "ValTownBlobNotFoundError";
}

/** The key or prefix as an address writes it. */
function encoded(text: string): string {
  if (!text.isWellFormed()) {
    throw new ValTownBlobError(`${JSON.stringify(text)} can't be a key: it holds half a character.`);
  }
  return encodeURIComponent(text);
}

function path(key: string): string {
  // However they are encoded, addresses take these for steps of the path.
  if (key === "" || key === "." || key === "..") {
    throw new ValTownBlobError(`${JSON.stringify(key)} can't be a key: no address can name it.`);
  }
  return `v1/blob/${encoded(key)}`;
}

/** What the instance answers; where it breaks off, that is a failure as any other. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new ValTownBlobError(`The instance did not answer: ${messageOf(cause)}`, { cause });
  }
}

function send(path: string, init?: RequestInit): Promise<Response> {
  return answered(() => call(path, init));
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

async function checked(response: Response, key?: string): Promise<Response> {
  if (response.ok) return response;
  const message = await answered(() => reason(response));
  if (response.status === 404 && key !== undefined) {
    throw new ValTownBlobNotFoundError(`There is no blob ${JSON.stringify(key)}.`);
  }
  throw new ValTownBlobError(message);
}

/** The keys that begin with `prefix`, with sizes and times. */
export async function list(prefix?: string): Promise<BlobListItem[]> {
  const query = prefix ? `?prefix=${encoded(prefix)}` : "";
  const response = await checked(await send(`v1/blob${query}`));
  return await answered(() => response.json());
}

/** The blob as a response to stream or read; throws `ValTownBlobNotFoundError` where there is none. */
export async function get(key: string): Promise<Response> {
  return await checked(await send(path(key)), key);
}

/** Keeps bytes under a key, in place of what was there. */
export async function set(key: string, value: BodyInit): Promise<void> {
  const response = await checked(await send(path(key), { method: "POST", body: value }));
  await response.body?.cancel();
}

/** Forgets a blob; throws `ValTownBlobNotFoundError` where there is none. */
export async function remove(key: string): Promise<void> {
  const response = await checked(await send(path(key), { method: "DELETE" }), key);
  await response.body?.cancel();
}

/** The JSON value kept under a key; `undefined` where there is none. What is no JSON is a failure. */
// deno-lint-ignore no-explicit-any -- a caller names the type it expects
export async function getJSON<T = any>(key: string): Promise<T | undefined> {
  const response = await send(path(key));
  if (response.status === 404) {
    await response.body?.cancel();
    return undefined;
  }
  await checked(response, key);
  const text = await answered(() => response.text());
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ValTownBlobError(`The blob ${JSON.stringify(key)} is no JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Keeps a value as JSON; what JSON has no words for, as `undefined`, is refused. */
export async function setJSON(key: string, value: unknown): Promise<void> {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw new ValTownBlobError(`The value can't be kept as JSON: ${messageOf(cause)}`, { cause });
  }
  if (json === undefined) throw new ValTownBlobError(`${typeof value} can't be kept as JSON.`);
  await set(key, json);
}

/** Copies a blob to another key. */
export async function copy(previous: string, next: string): Promise<void> {
  const source = await get(previous);
  await set(next, await answered(() => source.arrayBuffer()));
}

/** Moves a blob to another key. */
export async function move(previous: string, next: string): Promise<void> {
  await copy(previous, next);
  if (previous !== next) await remove(previous);
}

export const blob = { list, get, set, delete: remove, getJSON, setJSON, copy, move };
