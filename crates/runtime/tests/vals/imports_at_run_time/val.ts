const name = ["to", "ol"].join("");
const tool = await import(`https://esm.town/v/bob/${name}`);
const same = await import("https://esm.town/v/bob/tool?v=1");
const gone = await import("https://esm.town/v/bob/gone").catch((error) => `${error.name}: ${error.message}`);
const file = await import("file:///etc/passwd").catch((error) => error.message);
const path = await import("node:path");
export default [tool.default, tool === same, gone, file, path.basename("/a/b"), import.meta.url];
