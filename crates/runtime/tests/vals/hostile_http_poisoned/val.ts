const broken = () => {
  throw new Error("poisoned");
};
const prototypes = [
  Response,
  Request,
  Headers,
  ReadableStream,
  URL,
  TextEncoder,
  Promise,
  Array,
  String,
  AbortSignal,
].map(
  (type) => type.prototype,
);
const answer = new Response("still here");
export default () => answer.clone();
const clone = Response.prototype.clone;
const { defineProperty } = Object;
const { ownKeys } = Reflect;
for (let i = 0; i < prototypes.length; i++) {
  const names = ownKeys(prototypes[i]);
  for (let j = 0; j < names.length; j++) {
    if (names[j] === "constructor" || names[j] === "length") continue;
    try {
      defineProperty(prototypes[i], names[j], { get: broken, configurable: true });
    } catch {
      // What can't be poisoned need not be.
    }
  }
}
defineProperty(Response.prototype, "clone", { value: clone });
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = broken;
globalThis.Response = globalThis.Request = globalThis.Headers = broken as never;
Deno.serve = broken as never;
