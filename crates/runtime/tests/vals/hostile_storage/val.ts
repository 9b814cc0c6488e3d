// What a val stored in the engine's own places would be there for every other val.
const found: string[] = [];
for (const name of ["localStorage", "caches"]) {
  if (name in globalThis) found.push(name);
}
// A worker thread has globals of its own.
const inWorker = await new Promise((resolve) => {
  const worker = new Worker(
    `data:text/javascript,
     try { const cache = await caches.open("all"); await cache.put("http://x.test/", new Response("x")); postMessage("stored"); }
     catch (error) { postMessage("refused"); }`,
    { type: "module" },
  );
  worker.onmessage = ({ data }) => {
    worker.terminate();
    resolve(data);
  };
});
export default [found, inWorker];
