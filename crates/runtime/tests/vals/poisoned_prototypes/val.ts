const broken = () => {
  throw new Error("poisoned");
};
const bytes = Object.getPrototypeOf(Uint8Array.prototype);
const prototypes = [String.prototype, Map.prototype, Promise.prototype, Uint8Array.prototype, bytes, Array.prototype];
const { defineProperty } = Object;
const { ownKeys } = Reflect;
for (let i = 0; i < prototypes.length; i++) {
  const names = ownKeys(prototypes[i]);
  for (let j = 0; j < names.length; j++) {
    const name = names[j];
    if (name === "constructor" || (name === "length" && prototypes[i] !== bytes)) continue;
    try {
      defineProperty(prototypes[i], name, { get: broken, configurable: true });
    } catch {
      // What can't be poisoned need not be.
    }
  }
}
Object.prototype.toString = broken;
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = broken;
JSON.stringify = JSON.parse = broken;
defineProperty(Object.prototype, "toJSON", { get: () => () => "forged" });
TextEncoder.prototype.encode = broken;
Error.prototype.name = "Forged";
globalThis.Promise = globalThis.Uint8Array = globalThis.TextEncoder = broken as never;
Deno.exit = broken as never;
console.log("still", "here");
export default 7;
