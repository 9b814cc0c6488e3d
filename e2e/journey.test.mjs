// One person's way through the app: sign in, write, save, run, see logs, edit, compare, restore, delete.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Visitor } from "./support/browser.mjs";
import { setUp } from "./support/setup.mjs";
import { signIn, Workspace } from "./support/workspace.mjs";

const LABEL = "Code of counter";
const FIRST = 'console.log("counting to", 3);\nexport default [1, 2, 3];\n';
const SECOND = 'console.warn("counting on");\nexport default [1, 2, 3, 4];\n';
const BROKEN = 'const numbers = [1, 2];\n\nthrow new RangeError("no more numbers");\n';

const { server, browser, visitor: ada } = await setUp();
const work = new Workspace(ada);

test("the link that the server printed signs in, once", async () => {
  await signIn(ada, server.link);
  for (const example of ["maze", "sparkline", "moonWatch", "mailClerk"]) {
    await ada.page.getByRole("link", { name: example }).first().waitFor();
  }
  const late = await Visitor.arrive(browser, server.url);
  late.expect(/status of 401/);
  await late.page.goto(server.link);
  await late.page.getByText("this link was used before", { exact: false }).waitFor();
  await late.leave();
});

test("a val is written, saved and run, and shows its logs and its value", async () => {
  await work.create({ name: "counter", starter: "Script", code: FIRST });
  assert.equal((await work.written(LABEL)).trim(), FIRST.trim());
  const outcome = await work.run("Run", /^Done after/);
  await outcome.getByText("counting to 3").waitFor();
  assert.match(await outcome.innerText(), /Returned/);
});

test("a step back with unsaved changes asks", async () => {
  await ada.page.getByRole("link", { name: "Hamlet" }).click();
  await ada.page.getByRole("link", { name: "counter" }).first().click();
  await ada.settled();
  await work.write(SECOND, LABEL);
  await work.says("Unsaved changes");
  await ada.page.evaluate(() => history.back());
  const question = ada.page.getByRole("dialog", { name: "Leave with unsaved changes?" });
  await question.getByRole("button", { name: "Stay" }).click();
  assert.match(ada.page.url(), /\/v\/ada\/counter/);
});

test("unsaved changes survive a reload", async () => {
  ada.page.once("dialog", (dialog) => void dialog.accept());
  await ada.page.reload();
  await ada.settled();
  await ada.page.getByText("Your unsaved changes", { exact: false }).waitFor();
  assert.equal((await work.written(LABEL)).trim(), SECOND.trim());
  const saved = await server.call(await token(), "GET", "/alias/ada/counter");
  assert.equal(saved.code, FIRST, "nothing is saved by itself");
});

test("leaving with unsaved changes asks", async () => {
  await ada.page.getByRole("link", { name: "Hamlet" }).click();
  const question = ada.page.getByRole("dialog", { name: "Leave with unsaved changes?" });
  await question.getByRole("button", { name: "Stay" }).click();
  assert.match(ada.page.url(), /\/v\/ada\/counter/);
});

test("saving makes a version, and what is saved answers at once", async () => {
  await (await work.editor(LABEL)).press("Control+S");
  await work.says("Saved");
  await ada.page.getByRole("link", { name: /^v1, saved/ }).waitFor();
  const outcome = await work.run("Run", /^Done after/);
  await outcome.getByText("counting on").waitFor();
});

test("a failure names its line, and the line is marked", async () => {
  await work.write(BROKEN, LABEL);
  const outcome = await work.run(
    "Save and run",
    /Failed after .* RangeError: no more numbers, line 3 of version 2/,
  );
  await outcome.getByRole("button", { name: "Show line 3" }).waitFor();
  const marked = ada.page.locator(".cm-failedLine");
  await marked.waitFor();
  assert.match(await marked.innerText(), /no more numbers/);
});

test("a newer version elsewhere is never overwritten", async () => {
  const val = await server.call(await token(), "GET", "/alias/ada/counter");
  await server.call(await token(), "POST", `/vals/${val.id}/versions`, { code: "export default 42;\n" });
  ada.expect(/status of 412/);
  await work.write(SECOND, LABEL);
  await (await work.editor(LABEL)).press("Control+S");
  await ada.page.getByText("version 3 is newer", { exact: false }).first().waitFor();
  const kept = await server.call(await token(), "GET", "/alias/ada/counter");
  assert.equal(kept.version, 3);
  await ada.page.getByRole("button", { name: "Keep mine: save over version 3" }).click();
  await work.says("Saved");
  const mine = await server.call(await token(), "GET", "/alias/ada/counter");
  assert.deepEqual([mine.version, mine.code.trim()], [4, SECOND.trim()]);
});

test("two versions are compared, and the address holds which", async () => {
  await work.goTo("Versions");
  assert.deepEqual(await work.versions(), [4, 3, 2, 1, 0]);
  await ada.page.getByRole("checkbox", { name: "Compare version 0" }).check();
  await ada.page.getByRole("checkbox", { name: "Compare version 1" }).check();
  await ada.page.getByRole("heading", { name: "Version 0 → version 1" }).waitFor();
  const changes = ada.page.getByRole("region", { name: "Compare" });
  await changes.getByText("counting on").first().waitFor();
  await changes.getByText("counting to").first().waitFor();
  assert.match(ada.page.url(), /compare=0\.\.1/);
  await ada.page.getByRole("link", { name: "Inline" }).click();
  await ada.page.waitForURL(/view=unified/);
  await ada.page.reload();
  await ada.settled();
  await ada.page.getByRole("heading", { name: "Version 0 → version 1" }).waitFor();
  await changes.getByText("counting to").first().waitFor();
});

test("an old version is restored as a new one", async () => {
  await ada.open("/v/ada/counter/versions/0");
  await ada.page.getByRole("button", { name: "Restore" }).click();
  await ada.page.getByText(/is new: it has the code of version 0/).waitFor();
  const val = await server.call(await token(), "GET", "/alias/ada/counter");
  assert.deepEqual([val.version, val.code], [5, FIRST]);
});

test("a version is deleted after a question, and its number is not given again", async () => {
  await ada.open("/v/ada/counter/versions");
  await ada.page.getByRole("button", { name: "Delete version 3" }).click();
  await ada.page.getByRole("button", { name: "Delete the version" }).click();
  await ada.page.getByText(/Version 3 is deleted/).waitFor();
  await ada.page.reload();
  await ada.settled();
  assert.deepEqual(await work.versions(), [5, 4, 2, 1, 0]);
});

test("every run is listed and has a page with everything", async () => {
  await ada.open("/v/ada/counter");
  await work.goTo("Runs");
  const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await runs.first().waitFor();
  assert.equal(await runs.count(), 3);
  await ada.open("/v/ada/counter/runs?status=error");
  assert.equal(await runs.count(), 1);
  await runs.first().getByRole("link").first().click();
  await ada.page.getByRole("heading", { level: 1, name: /RangeError: no more numbers/ }).waitFor();
  await ada.page.reload();
  await ada.settled();
  await ada.page.getByRole("heading", { level: 1, name: /line 3 of version 2/ }).waitFor();
  await ada.page.getByRole("link", { name: "v2" }).first().waitFor();
});

test("deleting wants the name typed, and then nothing is left", async () => {
  await ada.open("/v/ada/counter/settings");
  await ada.page.getByRole("button", { name: "Delete this val…" }).click();
  const question = ada.page.getByRole("dialog", { name: "Delete counter?" });
  const confirm = question.getByRole("button", { name: "Delete the val" });
  assert.ok(await confirm.isDisabled());
  await question.getByLabel("Type counter to confirm").fill("counter");
  await confirm.click();
  await ada.page.waitForURL("**/u/ada");
  await ada.settled();
  assert.equal(await ada.page.getByRole("link", { name: "counter" }).count(), 0);
  ada.expect(/status of 404/);
  await ada.open("/v/ada/counter");
  await ada.page.getByRole("heading", { name: "Nothing here" }).waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});

/** @type {string | undefined} */
let made;

/** A token of the owner, made on the settings page. */
async function token() {
  if (made) return made;
  const page = await ada.context.newPage();
  await page.goto("/settings");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Name").last().fill("end to end");
  await page.getByRole("button", { name: "Make token" }).click();
  made = (await page.locator(".tokens__secret code").innerText()).trim();
  assert.match(made, /^hmlt_/);
  await page.close();
  return made;
}
