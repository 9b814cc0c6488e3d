const broken = () => {
  throw new Error("poisoned");
};
for (const prototype of [Array.prototype, String.prototype, Map.prototype, Promise.prototype, Uint8Array.prototype]) {
  for (const name of Reflect.ownKeys(prototype)) {
    if (name === "constructor" || name === "length") continue;
    try {
      Object.defineProperty(prototype, name, { get: broken, configurable: true });
    } catch {
      // What can't be poisoned need not be.
    }
  }
}
Object.prototype.toString = broken;
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = broken;
JSON.stringify = JSON.parse = broken;
Object.defineProperty(Object.prototype, "toJSON", { get: () => () => "forged" });
TextEncoder.prototype.encode = broken;
Error.prototype.name = "Forged";
Symbol.iterator;
globalThis.Promise = globalThis.Uint8Array = globalThis.TextEncoder = broken as never;
Deno.exit = broken as never;
console.log("still", "here");
export default 7;
