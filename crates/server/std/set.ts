/** Values as vals. */

import { call, reason } from "https://esm.town/v/std/client";

/** Saves a JSON value as the val of this name: `export let name = …`. Needs a token that may write vals. */
export async function set(name: string, value: unknown): Promise<void> {
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`${typeof value} can't be kept as JSON.`);
  const response = await call("v1/vals", {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, code: `export let ${name} = ${json};\n` }),
  });
  if (!response.ok) throw new Error(await reason(response));
  await response.body?.cancel();
}
