// npm's @valtown/deno-http-worker behind Node's own HTTP server, with four arguments: FOLDER DENO PORT HANDLER
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, deno, port, handler] = process.argv.slice(-4);
const entry = join(folder, "node_modules/@valtown/deno-http-worker/dist/index.js");
const { newDenoHTTPWorker } = await import(pathToFileURL(entry).href);
const worker = await newDenoHTTPWorker(`${handler}\nexport default { fetch: handle };\n`, {
  denoExecutable: deno,
});
// Its Deno would go on without it.
process.on("SIGTERM", () => {
  worker.terminate();
  process.exit();
});
createServer((request, response) => {
  const url = `http://${request.headers.host}${request.url}`;
  const sent = worker.request(url, { method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on("error", (error) => response.writeHead(502).end(String(error)));
  request.pipe(sent);
}).listen(Number(port), "127.0.0.1");
