/** A function as an HTTP val. */

/** An HTTP handler that calls `f` with the `args` of the body, or of the query, and answers its value as JSON. */
export function rpc<A extends unknown[], R>(
  f: (...args: A) => R | Promise<R>,
): (request: Request) => Promise<Response> {
  return async (request: Request) => {
    let args: unknown;
    try {
      const query = new URL(request.url).searchParams.get("args");
      const text = query ?? (request.method === "GET" ? "" : await request.text());
      const body: unknown = text ? JSON.parse(text) : [];
      args = Array.isArray(body) ? body : (body as { args?: unknown } | null)?.args ?? [];
    } catch {
      return Response.json({ error: "The arguments are no JSON." }, { status: 400 });
    }
    if (!Array.isArray(args)) {
      return Response.json({ error: 'The arguments are a list: {"args": [1, 2]}.' }, { status: 400 });
    }
    return Response.json((await f(...(args as A))) ?? null);
  };
}
