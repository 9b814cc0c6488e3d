// A page: every request to the val's address comes here, and the Response that you return is its answer.
export default function (request: Request): Response {
  const url = new URL(request.url);
  const name = url.searchParams.get("name") ?? "world";
  console.log(request.method, url.pathname);

  if (url.pathname === "/api") {
    return Response.json({ hello: name, at: new Date() });
  }
  const html = `<!doctype html>
<html lang="en">
  <meta name="viewport" content="width=device-width">
  <title>Hello</title>
  <h1>Hello, ${escape(name)}!</h1>
  <form>
    <label>Your name <input name="name"></label>
    <button>Greet me</button>
  </form>
  <p>The same as JSON: <a href="/api?name=${encodeURIComponent(name)}">/api</a></p>
</html>`;
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
