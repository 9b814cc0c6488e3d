// An HTTP val: its module is evaluated once, then it answers requests until the host retires it.

import { cwd, inspect, isReadBy, loadWeb, slice } from "./natives.ts";
import { flush, newRunLog, type RunLog, scope } from "./console.ts";
import { errorJson, ruleBroken } from "./errors.ts";
import type { Handler } from "./entry.ts";

let server: Deno.HttpServer<Deno.UnixAddr> | undefined;

/**
 * Serves the handler on a socket in this worker's folder; each request's lines go to the run it names. The header that
 * marks a failure has a name that only the host knows, so that a val's own answer can't pass for one.
 */
export function serve(handler: Handler, logs: number, failureHeader: string) {
  const { NativeResponse, nativeServe, requestHeaders, responseStatus, headersGet } = loadWeb();
  const isResponse = (value: unknown): value is Response => isReadBy(responseStatus, value);
  const failure = (thrown: unknown) =>
    new NativeResponse(errorJson(thrown), { status: 500, headers: [[failureHeader, "1"]] });

  const checked = (answer: unknown, run: RunLog): Response => {
    flush(run);
    if (isResponse(answer)) return answer;
    const given = slice(inspect(answer), 0, 100);
    return failure(ruleBroken(`An HTTP val's handler must give back a Response; this one gave ${given}.`));
  };

  const settle = async (promised: unknown, run: RunLog): Promise<Response> => {
    try {
      return checked(await promised, run);
    } catch (error) {
      flush(run);
      return failure(error);
    }
  };

  const respond = (request: Request, run: RunLog): Response | Promise<Response> => {
    try {
      const answer = handler(request);
      return isResponse(answer) ? checked(answer, run) : settle(answer, run);
    } catch (error) {
      flush(run);
      return failure(error);
    }
  };

  server = nativeServe({ path: `${cwd}/http`, onListen() {}, onError: failure }, (request: Request) => {
    const run = newRunLog(headersGet(requestHeaders(request), "hamlet-run-id") ?? "", logs);
    return scope.run(run, respond, request, run);
  });
}

/** Takes no more requests; the process ends when nothing is left to do. */
export function retire() {
  server?.shutdown();
}
