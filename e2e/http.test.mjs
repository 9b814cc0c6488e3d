// An HTTP val: it answers at an address of its own, and from the form on its page; each request is a run.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { Visitor } from "./support/browser.mjs";
import { setUpSignedIn } from "./support/setup.mjs";

const CODE = `export default async function (request: Request): Promise<Response> {
  const url = new URL(request.url);
  console.log(request.method, url.pathname);
  if (url.pathname === "/broken") throw new Error("not today");
  return Response.json({ path: url.pathname, body: await request.text() });
}
`;

const TALK =
  `const PAGE = \`<!doctype html><html lang="en"><title>Talk</title><p id="said"></p><p id="end"></p>
<script>
  const socket = new WebSocket("/socket");
  socket.onopen = () => socket.send("hello");
  socket.onmessage = (message) => {
    said.textContent = message.data;
    socket.close(1000);
  };
  socket.onclose = (close) => (end.textContent = "closed with " + close.code);
</script>\`;
export default function (request: Request): Response {
  if (request.headers.get("upgrade") !== "websocket") {
    return new Response(PAGE, { headers: { "content-type": "text/html" } });
  }
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onmessage = (message) => socket.send("You said: " + message.data);
  return response;
}
`;

const { server, browser, ada, work } = await setUpSignedIn();

test("a request from the form is answered and shown", async () => {
  await work.create({ name: "mirror", starter: "Page or API", code: CODE });
  await ada.page.getByLabel("Path").fill("/deep/link?x=1");
  const outcome = await work.run("Send", /^Answered 200/);
  await outcome.getByText("GET /deep/link").waitFor();
  await outcome.getByText("200", { exact: true }).waitFor();
  await outcome.getByText("/deep/link", { exact: false }).first().waitFor();
});

test("the form sends a method and a body", async () => {
  await ada.page.getByLabel("Method").selectOption("POST");
  await ada.page.getByText("Headers and body").click();
  await ada.page.getByLabel("Body", { exact: true }).fill("from the form");
  const outcome = await work.run("Send", /^Answered 200/);
  await outcome.getByText("POST /deep/link").waitFor();
  assert.match(await outcome.innerText(), /from the form/);
});

test("a failing handler answers 502 and shows where it failed", async () => {
  await ada.page.getByLabel("Method").selectOption("GET");
  await ada.page.getByLabel("Body", { exact: true }).fill("");
  await ada.page.getByLabel("Path").fill("/broken");
  await work.run("Send", /Error: not today, line 4 of version 0/);
});

test("the address answers others once the val is public, and each request is a run", async () => {
  await work.makePublic();
  await work.goTo("Code");
  const address = await ada.page.locator(".endpoint__address").innerText();
  assert.match(address, /^http:\/\/ada-mirror\.localhost:\d+/i);

  const answer = await get(new URL("/from/outside", address));
  assert.deepEqual([answer.status, JSON.parse(answer.text).path], [200, "/from/outside"]);
  await work.goTo("Runs");
  const outside = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem").filter({
    hasText: "/from/outside",
  });
  await outside.first().waitFor();
});

test("a browser sees the page at the address, apart from the app", async () => {
  const visitor = await Visitor.arrive(browser, server.url);
  const address = new URL(server.url);
  await visitor.page.goto(`http://ada-mirror.localhost:${address.port}/seen`);
  assert.match(await visitor.page.locator("body").innerText(), /"path":\s*"\/seen"/);
  assert.deepEqual(await visitor.context.cookies(), []);
  await visitor.leave();
});

test("a page and its val speak by a web socket", async () => {
  await work.create({ name: "talk", starter: "Page or API", code: TALK });
  await work.makePublic();
  const visitor = await Visitor.arrive(browser, server.url);
  await visitor.page.goto(`http://ada-talk.localhost:${new URL(server.url).port}/`);
  await visitor.page.getByText("You said: hello").waitFor();
  await visitor.page.getByText("closed with 1000").waitFor();
  await visitor.leave();
  await work.goTo("Runs");
  const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await runs.filter({ hasText: "/socket" }).first().waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});

/**
 * Asks the server for another host name, which not every system resolves.
 * @param {URL} url
 * @returns {Promise<{ status: number | undefined, text: string }>}
 */
function get(url) {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port: url.port, path: url.pathname, headers: { host: url.host } },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}
