// The list of a val's runs is narrowed, and a run's logs are searched: the address holds how.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const CODE = `for (const word of ["apple", "pear", "plum"]) console.log(word);
console.warn("a ripe Pear");
`;
const BROKEN = `throw new Error("no fruit");
`;

const { ada, work } = await setUpSignedIn();
const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");
const filters = ada.page.getByRole("group", { name: "Filters" });
const lines = ada.page.getByRole("log");

/** Chooses from a filter's menu. @param {string} filter @param {string} choice */
async function choose(filter, choice) {
  await filters.getByRole("button", { name: filter }).click();
  await filters.getByRole("link", { name: choice, exact: true }).click();
}

test("runs are narrowed by status, version and trigger, and the address holds how", async () => {
  await work.create({ name: "fruit", starter: "Script", code: CODE });
  await work.run("Run", /^Done after/);
  await work.run("Run", /^Done after/);
  await work.write(BROKEN, "Code of fruit");
  await work.run("Save and run", /^Failed after/);
  await work.goTo("Runs");
  await runs.nth(2).waitFor();
  assert.equal(await runs.count(), 3);
  await ada.page.getByText("3 runs").waitFor();

  await choose("Status", "ok");
  await ada.page.waitForURL(/status=ok/);
  await runs.nth(2).waitFor({ state: "detached" });
  assert.equal(await runs.count(), 2);
  await choose("Version", "v1, latest");
  await ada.page.getByText("No run matches").waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
  await ada.page.reload();
  await ada.settled();
  await ada.page.getByText("No run matches").waitFor();
  await ada.page.goBack();
  await runs.nth(1).waitFor();

  await filters.getByRole("link", { name: "Clear filters" }).click();
  await runs.nth(2).waitFor();
  await choose("Trigger", "editor");
  await ada.page.waitForURL(/trigger=editor/);
  assert.equal(await runs.count(), 3);
});

test("the logs of a run are searched by text and level, and the address holds how", async () => {
  await ada.open("/v/ada/fruit/runs?version=0");
  await runs.first().getByRole("link").first().click();
  await lines.getByText("plum").waitFor();
  await ada.page.getByLabel("Search logs").fill("pear");
  await ada.page.getByText("2 of 4 lines").waitFor();
  assert.deepEqual(await lines.locator("mark").allTextContents(), ["pear", "Pear"]);
  await ada.page.getByRole("button", { name: /^Warnings/ }).click();
  await ada.page.getByText("1 of 4 lines").waitFor();
  await ada.page.waitForURL((url) => url.search.includes("level=warn") && url.search.includes("q=pear"));
  await ada.isAccessible();
  await ada.fitsAPhone();
  await ada.page.reload();
  await ada.settled();
  await ada.page.getByText("1 of 4 lines").waitFor();
  assert.equal(await ada.page.getByLabel("Search logs").inputValue(), "pear");
  await ada.page.getByRole("button", { name: "Copy logs" }).click();
  const copied = await ada.page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, "a ripe Pear\n", "what is shown is what is copied");
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});
