// What is filled in before a run: the arguments of a function, and requests, which are remembered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const SUM = `export default function sum(first = 0, second = 0) {
  console.log("adding", first, second);
  return { sum: first + second };
}
`;
const MIRROR = `export default async function (request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  console.log(request.method, pathname + search, request.headers.get("x-word"), await request.text());
  return new Response("<h1>Heard</h1><script>document.title = 'taken'</script>", {
    status: pathname === "/gone" ? 404 : 200,
    headers: { "content-type": "text/html" },
  });
}
`;

const { ada, work } = await setUpSignedIn();
const outcome = ada.page.getByRole("region", { name: "Outcome" });
const lines = outcome.getByRole("log");
const form = ada.page.getByRole("form", { name: "Run" });
const sent = form.locator("details", { hasText: "Sent before" });
const path = form.getByLabel("Path");

test("a function is called without arguments, and with those that are given", async () => {
  await work.create({ name: "sum", starter: "Script", code: SUM });
  await work.run("Run", /^Done after/);
  await lines.getByText("adding 0 0").waitFor();
  await form.getByLabel("Arguments").fill("[2, 3]");
  await work.run("Run", /^Done after/);
  await lines.getByText("adding 2 3").waitFor();
  await outcome.getByText("{ sum: 5 }").waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
  await ada.page.getByRole("link", { name: "All about this run" }).click();
  await ada.page.getByRole("region", { name: "Input" }).getByText("[2, 3]").waitFor();
});

test("a log of many lines is no wider than a phone's panel", async () => {
  const code = "for (let line = 0; line < 12_000; line++) console.log(line);\n";
  await work.create({ name: "many", starter: "Script", code });
  await work.run("Run", /^Done after/);
  await outcome.getByText("12,000 lines").waitFor();
  const size = ada.page.viewportSize();
  await ada.page.setViewportSize({ width: 320, height: 640 });
  const right = async (/** @type {import("playwright-core").Locator} */ part) => {
    const box = await part.boundingBox();
    assert.ok(box);
    return box.x + box.width;
  };
  const end = await right(outcome);
  for (
    const part of [outcome.getByRole("group", { name: "Level" }), outcome.getByLabel("Search logs"), lines]
  ) {
    assert.ok(await right(part) <= end, `${await part.evaluate((element) => element.className)} ends beyond`);
  }
  if (size) await ada.page.setViewportSize(size);
});

test("arguments that are no list are refused beside their field, and nothing runs", async () => {
  await ada.open("/v/ada/sum");
  await lines.getByText("adding 2 3").waitFor();
  for (const wrong of ["2, 3", "{}", "[2"]) {
    await form.getByLabel("Arguments").fill(wrong);
    await form.getByLabel("Arguments").press("Enter");
    await form.getByText('Arguments are a JSON list, as [1, "two"], or nothing.').waitFor();
    assert.equal(await form.getByLabel("Arguments").getAttribute("aria-invalid"), "true");
  }
  await lines.getByText("adding 2 3").waitFor();
  await form.getByLabel("Arguments").fill(`[1]`);
  await form.getByLabel("Arguments").press("Enter");
  await lines.getByText("adding 1 0").waitFor();
  assert.equal(await form.getByLabel("Arguments").getAttribute("aria-invalid"), null);
});

test("a request that can't be sent is told beside what is wrong with it", async () => {
  await work.create({ name: "mirror", starter: "Page or API", code: MIRROR });
  await path.fill("gone");
  await path.press("Enter");
  await form.getByRole("alert").getByText("A path begins with /.").waitFor();
  await path.fill("/first");
  await form.getByText("Headers and body").click();
  await form.getByLabel("Headers", { exact: true }).fill("no header");
  await path.press("Enter");
  await form.getByText(/^Each line of the headers is a name and a value/).waitFor();
  await form.getByLabel("Headers", { exact: true }).fill("x-word: hello\n");
  await form.getByLabel("Body", { exact: true }).fill("a body");
  await path.press("Enter");
  await form.getByText(/^A GET or HEAD request has no body/).waitFor();
  await outcome.waitFor({ state: "detached" });
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("an answer is shown as what it is, and nothing of it runs", async () => {
  await form.getByLabel("Method").selectOption("POST");
  await work.run("Send", /^Answered 200/);
  await lines.getByText("POST /first hello a body").waitFor();
  await outcome.frameLocator("iframe").getByRole("heading", { name: "Heard" }).waitFor();
  await outcome.getByRole("button", { name: "Text" }).click();
  await outcome.getByText("<h1>Heard</h1>").waitFor();
  assert.match(await ada.page.title(), /mirror/);
});

test("requests are remembered, filled in and sent again, also after a reload", async () => {
  await form.getByLabel("Method").selectOption("GET");
  await form.getByLabel("Body", { exact: true }).fill("");
  await path.fill("/gone?really=1");
  await work.run("Send", /^Answered 404/);
  await work.run("Send", /^Answered 404/);
  await ada.page.reload();
  await ada.settled();
  await sent.getByText("Sent before (2)").click();
  const requests = sent.getByRole("listitem");
  assert.match(await requests.nth(0).innerText(), /^GET \/gone\?really=1/);
  await sent.getByRole("button", { name: "POST /first", exact: true }).click();
  assert.equal(await path.inputValue(), "/first");
  assert.equal(await form.getByLabel("Method").inputValue(), "POST");
  assert.equal(await form.getByLabel("Headers", { exact: true }).inputValue(), "x-word: hello");
  assert.equal(await form.getByLabel("Body", { exact: true }).inputValue(), "a body");
  await ada.isAccessible();
  await ada.fitsAPhone();

  await sent.getByRole("button", { name: "Send POST /first again" }).click();
  await lines.getByText("POST /first hello a body").waitFor();
  assert.match(await requests.nth(0).innerText(), /^POST \/first/, "the last that was sent comes first");
  await sent.getByRole("button", { name: "Forget all of them" }).click();
  await sent.waitFor({ state: "hidden" });
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});
