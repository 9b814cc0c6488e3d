console.log("before");
// (module (func (export "spin") (loop br 0)))
const bytes = Uint8Array.fromHex(
  "0061736d0100000001040160000003020100070801047370696e00000a0901070003400c000b0b",
);
const { instance } = await WebAssembly.instantiate(bytes);
(instance.exports.spin as () => void)();
