/** `fetch`, and the two things most often wanted of its answer. */

const platformFetch = globalThis.fetch.bind(globalThis);

/** The platform's own `fetch`. */
export function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return platformFetch(input, init);
}

/** Fetches, and reads the answer as JSON; says what came instead where it is none. */
// deno-lint-ignore no-explicit-any -- a caller names the type it expects
export async function fetchJSON<T = any>(input: RequestInfo | URL, init?: RequestInit): Promise<T> {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  if (!headers.has("accept")) headers.set("accept", "application/json");
  const text = await (await platformFetch(input, { ...init, headers })).text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`The answer is no JSON; it begins with: ${text.slice(0, 100)}`);
  }
}

/** Fetches, and reads the answer as text. */
export async function fetchText(input: RequestInfo | URL, init?: RequestInit): Promise<string> {
  return await (await platformFetch(input, init)).text();
}

export default fetch;
