/**
 * How the standard library speaks to the instance: the same `/v1` interface that everyone uses, with the token
 * that the run was given.
 */

/** What the instance says when a call fails. */
interface Problem {
  message?: string;
  code?: string;
}

/** Sends a request to `/v1` of this instance as the author of the val that runs. */
export function call(path: string, init: RequestInit = {}): Promise<Response> {
  const address = Deno.env.get("VALTOWN_API_URL");
  const token = Deno.env.get("VAL_TOWN_API_KEY") ?? Deno.env.get("valtown");
  if (!address || !token) {
    throw new Error(
      "The standard library works inside a run, where VALTOWN_API_URL and VAL_TOWN_API_KEY are set.",
    );
  }
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(new URL(path, address.endsWith("/") ? address : `${address}/`), { ...init, headers });
}

/** The sentence in which the instance tells why a call failed. */
export async function reason(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as Problem;
    return problem.message ?? text;
  } catch {
    return text || `status ${response.status}`;
  }
}
