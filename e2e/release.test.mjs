// What is served is the release build: hashed, compressed, within its budget, under a strict policy; and the server
// ends cleanly.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Visitor } from "./support/browser.mjs";
import { setUp } from "./support/setup.mjs";
import { signIn, Workspace } from "./support/workspace.mjs";

/** The first load of a val's page, without the editor. */
const MOST_BYTES = { all: 330_000, wasm: 250_000 };

const { server, browser, visitor: guest } = await setUp();
/** @type {import("playwright-core").Response[]} */
const responses = [];

before(async () => {
  guest.page.on("response", (response) => responses.push(response));
  await guest.open("/v/ada/maze");
  // The colours are the last to come.
  await guest.page.waitForFunction(() => CSS.highlights.has("code-keyword"));
});

/** The files of the app that were loaded. */
function files() {
  return responses.filter((response) => !new URL(response.url()).pathname.startsWith("/v1"));
}

test("the app's own files have hashed names and are kept for ever", async () => {
  const hashed = files().filter((response) => /\.(wasm|css|js)$/.test(new URL(response.url()).pathname));
  const names = hashed.map((response) => new URL(response.url()).pathname);
  for (
    const kind of [
      /^\/hamlet-app-[0-9a-f]{16}_bg\.wasm$/,
      /^\/hamlet-app-[0-9a-f]{16}\.js$/,
      /-[0-9a-f]{16}\.css$/,
    ]
  ) {
    assert.equal(names.filter((name) => kind.test(name)).length, 1, `${kind} in ${names}`);
  }
  for (const response of hashed) {
    const name = new URL(response.url()).pathname;
    const kept = /-([0-9a-f]{16}|[0-9A-Z]{8})(_bg)?\.\w+$/.test(name) ? /immutable/ : /no-cache/;
    assert.match((await response.allHeaders())["cache-control"], kept, name);
  }
});

test("the page itself is never kept, and its policy is strict", async () => {
  const page = files().find((response) => new URL(response.url()).pathname === "/v/ada/maze");
  const headers = (await page?.allHeaders()) ?? {};
  assert.match(headers["cache-control"], /no-cache|no-store/);
  const policy = headers["content-security-policy"];
  assert.match(policy, /default-src '(self|none)'/);
  assert.match(policy, /'wasm-unsafe-eval'/);
  assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'|\*/);
});

test("the first load is within its budget, and nothing is loaded twice", async () => {
  const first = files().filter((response) => !new URL(response.url()).pathname.startsWith("/editor/"));
  const sizes = { all: 0, wasm: 0 };
  for (const response of first) {
    const { responseBodySize } = await response.request().sizes();
    sizes.all += responseBodySize;
    if (response.url().endsWith(".wasm")) {
      sizes.wasm += responseBodySize;
      assert.equal((await response.allHeaders())["content-encoding"], "br");
    }
  }
  assert.ok(sizes.wasm > 50_000, `the wasm was measured: ${sizes.wasm}`);
  assert.ok(sizes.wasm <= MOST_BYTES.wasm, `${sizes.wasm} bytes of wasm`);
  assert.ok(sizes.all <= MOST_BYTES.all, `${sizes.all} bytes in all`);
  const urls = files().map((response) => response.url());
  assert.deepEqual(urls, [...new Set(urls)]);
});

test("no debug build is inside", async () => {
  const wasm = files().find((response) => response.url().endsWith(".wasm"));
  const text = ((await wasm?.body()) ?? Buffer.alloc(0)).toString("latin1");
  assert.ok(text.startsWith("\0asm"));
  assert.doesNotMatch(text, /\.debug_info|\.debug_line/);
});

test("an unknown file is an error and not the app", async () => {
  for (const path of ["/hamlet-app-0000000000000000.js", "/editor/none.js", "/v1/none"]) {
    const response = await fetch(server.url + path);
    assert.equal(response.status, 404, path);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
  }
});

test("nothing was printed as an error, thrown or refused", async () => {
  await guest.leave();
});

test("a user made on the command line signs in with the token, and leaves", async () => {
  const token = await server.createUser("grace");
  const grace = await Visitor.arrive(browser, server.url);
  await grace.open("/login?by=token");
  await grace.page.getByLabel("API token").fill(token);
  await grace.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await grace.page.getByRole("heading", { name: "Your vals" }).waitFor();
  await grace.page.getByRole("button", { name: "Account of grace" }).click();
  await grace.page.getByRole("button", { name: "Sign out" }).click();
  await grace.page.getByRole("heading", { name: /Small TypeScript programs/ }).waitFor();
  await grace.page.reload();
  await grace.settled();
  await grace.page.getByRole("heading", { name: /Small TypeScript programs/ }).waitFor();
  await grace.leave();
});

test("a page whose code can't be had says so, and comes when it is asked for again", async () => {
  const visitor = await Visitor.arrive(browser, server.url);
  await visitor.open("/u/ada");
  visitor.expect(/ERR_FAILED|Failed to fetch/);
  await visitor.context.route("**/hamlet-app-split_val-*.wasm", (route) => route.abort());
  await visitor.page.getByRole("link", { name: "maze" }).first().click();
  await visitor.page.getByText(/Can’t reach the server/).waitFor();
  await visitor.context.unroute("**/hamlet-app-split_val-*.wasm");
  await visitor.page.getByRole("button", { name: "Retry" }).click();
  await visitor.page.getByRole("navigation", { name: /^Parts of/ }).waitFor();
  await visitor.leave();
});

test("without the server the page says so, keeps what is typed, and comes back by itself", async () => {
  const ada = await Visitor.arrive(browser, server.url);
  await signIn(ada, server.link);
  const work = new Workspace(ada);
  await work.create({ name: "offline", starter: "Script", code: "export default 1;\n" });
  ada.expect(/ERR_INTERNET_DISCONNECTED|Failed to fetch/);
  await ada.context.setOffline(true);
  await work.write("export default 2;\n", "Code of offline");
  await ada.page.keyboard.press("Control+S");
  await ada.page.getByText(/Can’t reach the server: your changes are kept/).waitFor();
  await ada.context.setOffline(false);
  await work.says("Saved");
  await ada.leave();
});

test("the server ends cleanly when it is told to", async () => {
  assert.equal(await server.stop(), 0, server.log.join("\n"));
});
