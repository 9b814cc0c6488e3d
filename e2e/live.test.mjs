// What goes on shows while it does: a run's logs, its end, runs that others start, a tick.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Visitor } from "./support/browser.mjs";
import { setUpSignedIn } from "./support/setup.mjs";

/** Waits in the middle until a blob is there. */
const WAIT = `import { blob } from "https://esm.town/v/std/blob";
async function wait(key: string) {
  console.log("waiting for", key);
  while (!(await blob.getJSON(key))) await new Promise((later) => setTimeout(later, 50));
  console.warn("over");
}
`;
const SCRIPT = `${WAIT}
export default async function (key: string) {
  await wait(key);
  return key;
}
`;
const PAGE = `${WAIT}
export default async function (request: Request) {
  await wait(new URL(request.url).pathname.slice(1));
  return new Response("at last");
}
`;
const TICK = `export default () => console.log("tick");
`;
/** A tick comes within a minute, and the page looks for it every few seconds. */
const TICK_MS = 75_000;

const { server, browser, ada, work } = await setUpSignedIn();
/** Ada in a second window, which stays open on the val that is to run by itself. */
const watcher = await Visitor.arrive(browser, server.url, {
  storageState: await ada.context.storageState(),
});
const outcome = ada.page.getByRole("region", { name: "Outcome" });
const lines = outcome.getByRole("log");

test("a val is set to run every minute", async () => {
  await work.create({ name: "pulse", starter: "Cron", code: TICK });
  await ada.page.getByRole("button", { name: "Set a schedule" }).click();
  const form = ada.page.getByRole("form", { name: "Schedule" });
  await form.getByLabel("Runs", { exact: true }).selectOption("by cron expression");
  await form.getByLabel("Cron expression").fill("* * * * *");
  await form.getByRole("button", { name: "Save schedule" }).click();
  await form.waitFor({ state: "detached" });
  await ada.page.getByText("Every minute", { exact: true }).waitFor();
  await watcher.open("/v/ada/pulse");
  await watcher.page.getByText("Every minute", { exact: true }).waitFor();
});

test("a run's logs show while it goes on, also after a reload and on its own page", async () => {
  await work.create({ name: "slow", starter: "Script", code: SCRIPT });
  await ada.page.getByLabel("Arguments").fill(`["first"]`);
  await ada.page.getByRole("button", { name: "Run", exact: true }).click();
  await outcome.getByRole("status").filter({ hasText: "Running" }).waitFor();
  await lines.getByText("waiting for first").waitFor();
  assert.ok(await ada.page.getByRole("button", { name: "Run", exact: true }).isDisabled());
  await ada.isAccessible();
  await ada.fitsAPhone();

  await ada.page.reload();
  await outcome.getByRole("status").filter({ hasText: "Running" }).waitFor();
  await lines.getByText("waiting for first").waitFor();
  const beside = await ada.context.newPage();
  await beside.goto(
    await ada.page.getByRole("link", { name: "All about this run" }).getAttribute("href") ?? "",
  );
  await beside.getByRole("heading", { level: 1, name: "Running" }).waitFor();
  await beside.getByRole("log").getByText("waiting for first").waitFor();

  await go("first");
  await beside.getByRole("heading", { level: 1, name: /Done after/ }).waitFor();
  await beside.getByRole("log").getByText("over").waitFor();
  await beside.close();
  await outcome.getByRole("status").filter({ hasText: /^Done after/ }).waitFor();
  await lines.getByText("over").waitFor();
  await outcome.getByText(`"first"`).waitFor();
});

test("a run that goes on is cancelled, and keeps what it printed", async () => {
  await ada.page.getByLabel("Arguments").fill(`["never"]`);
  await ada.page.getByRole("button", { name: "Run", exact: true }).click();
  await lines.getByText("waiting for never").waitFor();
  await ada.page.getByRole("button", { name: "Cancel the run" }).click();
  await outcome.getByRole("status").filter({ hasText: /^Cancelled after/ }).waitFor();
  await lines.getByText("waiting for never").waitFor();
  assert.equal(await ada.page.getByRole("button", { name: "Cancel the run" }).count(), 0);
  assert.ok(await ada.page.getByRole("button", { name: "Run", exact: true }).isEnabled());
});

test("a run is cancelled on its own page", async () => {
  await ada.page.getByRole("button", { name: "Run", exact: true }).click();
  await lines.getByText("waiting for never").waitFor();
  await ada.page.getByRole("link", { name: "All about this run" }).click();
  await ada.page.getByRole("button", { name: "Cancel", exact: true }).click();
  await ada.page.getByRole("heading", { level: 1, name: /Cancelled after/ }).waitFor();
  await ada.page.getByRole("button", { name: "Run again" }).waitFor();
});

test("a request from outside is followed while it goes on", async () => {
  await work.create({ name: "door", starter: "Page or API", code: PAGE });
  await work.makePublic();
  const guest = await Visitor.arrive(browser, server.url);
  const asked = guest.page.goto(`http://ada-door.localhost:${new URL(server.url).port}/second`);
  await work.goTo("Runs");
  const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await runs.filter({ hasText: "running" }).filter({ hasText: "/second" }).waitFor();
  await runs.first().getByRole("link").first().click();
  await ada.page.getByRole("heading", { level: 1, name: "Running" }).waitFor();
  await ada.page.getByRole("log").getByText("waiting for second").waitFor();
  await go("second");
  await ada.page.getByRole("heading", { level: 1, name: /Answered 200/ }).waitFor();
  await ada.page.getByRole("log").getByText("over").waitFor();
  assert.equal(await (await asked)?.text(), "at last");
  await guest.leave();
});

test("a tick runs by itself, and shows on the val's page without a reload", async () => {
  const outcome = watcher.page.getByRole("region", { name: "Outcome" });
  await outcome.getByRole("status").filter({ hasText: /^Done after/ }).waitFor({ timeout: TICK_MS });
  await outcome.getByRole("log").getByText("tick").waitFor();
  await watcher.page.getByRole("region", { name: "Schedule" }).getByText(/^Last ran /).waitFor();
  await watcher.page.getByRole("link", { name: "All about this run" }).click();
  await watcher.page.getByRole("region", { name: "Facts" }).getByText("schedule", { exact: true }).waitFor();
  await watcher.page.getByRole("region", { name: "Input" }).getByText(/^It was told that it /).waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await watcher.leave();
  await ada.leave();
});

/** Lets what waits for this go on. @param {string} key */
async function go(key) {
  await ada.page.evaluate(async (key) => {
    const set = await fetch(`/v1/blob/${key}`, { method: "POST", body: "true" });
    if (!set.ok) throw new Error(await set.text());
  }, key);
}
