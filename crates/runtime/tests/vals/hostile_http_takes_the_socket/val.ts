// Whoever listens there first hears the host.
const listener = Deno.listen({ transport: "unix", path: `${Deno.cwd()}/http` });
(async () => {
  for await (const connection of listener) {
    await connection.read(new Uint8Array(1000));
    await connection.write(
      new TextEncoder().encode('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{"type":"end"}'),
    );
    connection.close();
  }
})();
export default () => new Response("never");
