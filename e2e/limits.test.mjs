// A val that breaks or goes too far: what is shown is true, names the limit, and leads to the line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const DEEP = `export function check(word: string) {
  if (!word) throw new TypeError("a word is missing");
  return word;
}
`;
const BROKEN = `import { check } from "https://esm.town/v/ada/deep";
function outer() {
  return check("");
}
outer();
`;
const ENDLESS = `console.log("before");
await new Promise((later) => setTimeout(later, 60_000));
`;
const HUNGRY = `console.log("before");
const kept: number[][] = [];
for (;;) kept.push(new Array(100_000).fill(Math.random()));
`;
const LOUD = `for (let line = 0; line < 500; line++) console.log("line", line);
`;

const { ada, work } = await setUpSignedIn({
  HAMLET_WALL_SECONDS: "2",
  HAMLET_MEMORY_MB: "96",
  HAMLET_LOG_KB: "2",
});

test("a stack leads to the line of each val in it, and the sentence to the val's own", async () => {
  await work.create({ name: "deep", starter: "Script", code: DEEP });
  await work.create({ name: "broken", starter: "Script", code: BROKEN });
  const outcome = await work.run(
    "Run",
    /^Failed after .* TypeError: a word is missing, line 3 of version 0$/,
  );
  await outcome.getByRole("button", { name: "Show line 3" }).waitFor();
  const stack = outcome.getByLabel("Stack");
  await stack.getByRole("link", { name: /^ada\/broken v0:5:/ }).waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
  await stack.getByRole("link", { name: /^ada\/deep v0:2:/ }).click();
  await ada.page.waitForURL("**/v/ada/deep/versions/0#L2");
  await ada.page.getByText("a word is missing").waitFor();
});

test("what is no TypeScript fails at its place", async () => {
  await ada.open("/v/ada/broken");
  await work.write("const fine = 1;\nconst wrong = ;\n", "Code of broken");
  await work.run("Save and run", /^Failed after .* SyntaxError: .*, line 2 of version 1$/);
  const marked = ada.page.locator(".cm-failedLine");
  assert.match(await marked.innerText(), /const wrong/);
});

test("a run that takes too long ends with what it printed, and says how long it may take", async () => {
  await work.create({ name: "endless", starter: "Script", code: ENDLESS });
  const outcome = await work.run("Run", /^Timed out after 2\.\d+ s: ran longer than the 2 s/);
  await outcome.getByRole("log").getByText("before").waitFor();
  await ada.page.getByRole("link", { name: "All about this run" }).click();
  await ada.page.getByRole("heading", { level: 1, name: /Timed out after 2\.\d+ s/ }).waitFor();
  await ada.page.getByText("It ended before it returned anything.").waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("a run that uses too much memory ends with what it printed, and says how much it may use", async () => {
  await work.create({ name: "hungry", starter: "Script", code: HUNGRY });
  const outcome = await work.run("Run", /^Ran out of memory after [^:]*: used more than the 96 MB of memory/);
  await outcome.getByRole("log").getByText("before").waitFor();
});

test("a run that prints too much keeps the beginning, and says how much is cut", async () => {
  await work.create({ name: "loud", starter: "Script", code: LOUD });
  const outcome = await work.run("Run", /^Done after/);
  const log = outcome.getByRole("log");
  await log.getByText("line 0", { exact: true }).waitFor();
  const kept = parseInt(await outcome.getByText(/^\d+ lines$/).innerText()) - 1;
  await outcome.getByRole("button", { name: /^Warnings/ }).click();
  await outcome.getByText(`1 of ${kept + 1} lines`).waitFor();
  const cut = `${500 - kept} lines \\(\\d+ kB\\) were cut here: the logs of a run are kept up to 2 kB`;
  await log.getByText(new RegExp(cut)).waitFor();
  await outcome.getByRole("button", { name: /^All/ }).click();
  await outcome.getByLabel("Search logs").fill("line 499");
  await outcome.getByText("No line matches.").waitFor();
  await outcome.getByText(/^Lines after these were not kept/).waitFor();
});

test("the limits in force are on the settings page, with what sets them", async () => {
  await ada.open("/settings");
  const limits = ada.page.getByRole("region", { name: "Limits in force" });
  for (
    const [name, value] of [
      ["Wall time of a run", "2 s"],
      ["Memory of a worker", "96 MB"],
      ["Logs kept of a run", "2 kB"],
    ]
  ) {
    await limits.getByRole("row").filter({ hasText: name }).getByText(value, { exact: true }).waitFor();
  }
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});
