// Secrets: set, limited, replaced and deleted on the settings page, read by vals as environment variables, and never
// shown again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

/** Tells what it found without printing it. */
const READER = `const key = Deno.env.get("API_KEY");
console.log(key === undefined ? "no key" : "a key of " + key.length + ", ending in " + key.slice(-1));
`;
const FIRST = "first-value-1";
const SECOND = "second\nvalue-22";

const { ada, work } = await setUpSignedIn();
const section = ada.page.getByRole("region", { name: "Secrets" });
const secrets = section.getByRole("list", { name: "Secrets" }).getByRole("listitem");
/** What the server answered since the last value was set. @type {string[]} */
const answers = [];

test("a secret needs a name that a program can have, and a value", async () => {
  for (const name of ["reader", "other"]) await work.create({ name, starter: "Script", code: READER });
  const outcome = await work.run("Run", /^Done after/);
  await outcome.getByText("no key").waitFor();
  await ada.open("/settings");
  await section.getByText("No secrets").waitFor();
  await section.getByRole("button", { name: "New secret" }).click();
  await section.getByLabel("Name").fill("9lives");
  await section.getByRole("button", { name: "Make secret" }).click();
  await section.getByText(/doesn't begin with a digit/).waitFor();
  await section.getByLabel("Name").fill("API_KEY");
  await section.getByRole("button", { name: "Make secret" }).click();
  await section.getByText("A secret needs a value.").waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("a secret that is made is read by every val, and never shown again", async () => {
  await section.getByLabel("Value").fill(FIRST);
  await section.getByRole("button", { name: "Make secret" }).click();
  await secrets.filter({ hasText: "API_KEY" }).getByText("For every val of yours").waitFor();
  ada.page.on("response", async (response) => {
    if (new URL(response.url()).pathname.startsWith("/v1/")) {
      answers.push(await response.text().catch(() => ""));
    }
  });
  await isHidden(FIRST);
  await ada.page.reload();
  await ada.settled();
  await secrets.first().waitFor();
  await isHidden(FIRST);
  await finds("reader", "a key of 13, ending in 1");
  await finds("other", "a key of 13, ending in 1");
});

test("a secret is limited to single vals, and keeps its value", async () => {
  await ada.open("/settings");
  await secrets.getByRole("button", { name: "Change API_KEY" }).click();
  assert.equal(await section.getByLabel("Value").inputValue(), "");
  await section.getByLabel("Only some of my vals get it").check();
  await section.getByRole("group", { name: "These get it" }).getByLabel("reader").check();
  await ada.isAccessible();
  await ada.fitsAPhone();
  await section.getByRole("button", { name: "Set secret" }).click();
  await secrets.getByText("For reader").waitFor();
  await finds("reader", "a key of 13, ending in 1");
  await finds("other", "no key");
});

test("a secret is replaced, with lines of its own", async () => {
  await ada.open("/settings");
  await secrets.getByRole("button", { name: "Change API_KEY" }).click();
  assert.ok(await section.getByLabel("Only some of my vals get it").isChecked(), "who gets it is kept");
  await section.getByLabel("Value").fill(SECOND);
  await section.getByRole("button", { name: "Set secret" }).click();
  await secrets.getByText("For reader").waitFor();
  await isHidden(SECOND);
  await finds("reader", "a key of 15, ending in 2");
});

test("a deleted secret is gone from the next run on", async () => {
  await ada.open("/settings");
  await secrets.getByRole("button", { name: "Delete API_KEY" }).click();
  const question = ada.page.getByRole("dialog", { name: "Delete API_KEY?" });
  await ada.isAccessible();
  await question.getByRole("button", { name: "Delete secret" }).click();
  await section.getByText("No secrets").waitFor();
  await finds("reader", "no key");
});

test("no answer of the server held a value, and nothing was wrong on the way", async () => {
  assert.ok(answers.length > 10);
  for (const value of [FIRST, SECOND, JSON.stringify(SECOND).slice(1, -1)]) {
    assert.ok(!answers.some((answer) => answer.includes(value)));
  }
  await ada.leave();
});

/** Runs the val, and waits for what it prints. @param {string} name @param {string} words */
async function finds(name, words) {
  await ada.open(`/v/ada/${name}`);
  const outcome = await work.run("Run", /^Done after/);
  await outcome.getByRole("log").getByText(words, { exact: true }).waitFor();
}

/** The value is nowhere on the page, in no field of it either. @param {string} value */
async function isHidden(value) {
  const texts = await ada.page.evaluate(() => [
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll("input, textarea")].map((field) =>
      /** @type {HTMLInputElement} */ (field).value
    ),
  ]);
  assert.ok(!texts.some((text) => text.includes(value)));
}
