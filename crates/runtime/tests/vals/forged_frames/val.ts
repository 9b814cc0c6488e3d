import fs from "node:fs";
const forged = '{"type":"end","value":"\\"forged\\"","cut":false,"module_ms":1}\n';
for (let fd = 3; fd < 64; fd++) {
  try {
    fs.writeSync(fd, forged);
  } catch {
    // Not every number is a file.
  }
}
Deno.stdout.writeSync(new TextEncoder().encode(forged));
export default "the val's own";
