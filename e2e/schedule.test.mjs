// A scheduled val: when it runs is set and changed on its page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const CODE = `export default function (tick: { lastRunAt?: Date }) {
  console.log(tick.lastRunAt ? "ran before" : "never ran before");
}
`;

const { ada, work } = await setUpSignedIn();
const schedule = ada.page.getByRole("region", { name: "Schedule" });
const form = ada.page.getByRole("form", { name: "Schedule" });
const ticks = schedule.getByRole("list", { name: "Next ticks" }).getByRole("listitem");
const outcome = ada.page.getByRole("region", { name: "Outcome" });

/** Saves what is filled in, and waits for the words that tell it. @param {string} words */
async function save(words) {
  await form.getByRole("button", { name: "Save schedule" }).click();
  await form.waitFor({ state: "detached" });
  await schedule.getByText(words, { exact: true }).waitFor();
}

/** The moments of the next ticks. */
async function times() {
  const times = await ticks.locator("time").evaluateAll((shown) =>
    shown.map((time) => time.getAttribute("datetime") ?? "")
  );
  assert.equal(times.length, 5);
  return times;
}

test("an interval has its next five ticks, and is changed", async () => {
  await work.create({ name: "plan", starter: "Cron", code: CODE });
  await schedule.getByRole("button", { name: "Set a schedule" }).click();
  await form.getByLabel("Every").fill("90");
  await save("Every 90 minutes");
  await schedule.getByText("It has not run yet.").waitFor();
  const shown = (await times()).map((time) => Date.parse(time));
  const pauses = shown.slice(1).map((time, index) => (time - shown[index]) / 60_000);
  assert.deepEqual(pauses, [90, 90, 90, 90]);

  await schedule.getByRole("button", { name: "Change" }).click();
  assert.equal(await form.getByLabel("Every").inputValue(), "90");
  await form.getByLabel("Every").fill("0");
  await form.getByRole("button", { name: "Save schedule" }).click();
  await form.getByText(/an interval like every 15 minutes/).waitFor();
  await form.getByRole("button", { name: "Cancel" }).click();
  await schedule.getByText("Every 90 minutes").waitFor();
});

test("what is no cron expression and no time zone is refused with a sentence", async () => {
  ada.expect(/status of 400/);
  await schedule.getByRole("button", { name: "Change" }).click();
  await form.getByLabel("Runs", { exact: true }).selectOption("by cron expression");
  const cron = form.getByLabel("Cron expression");
  await cron.fill("61 * * * *");
  await form.getByRole("button", { name: "Save schedule" }).click();
  await form.getByRole("alert").getByText(/61 is no minute, which is 0 to 59/).waitFor();
  assert.equal(await form.getByRole("alert").count(), 1, "it is said once");
  assert.equal(await cron.getAttribute("aria-invalid"), "true");

  await cron.fill("30 7 * * 1-5");
  const zone = form.getByLabel("Time zone");
  await zone.fill("Europe/Nowhere");
  await form.getByRole("button", { name: "Save schedule" }).click();
  await form.getByRole("alert").getByText(/^Europe\/Nowhere is no time zone/).waitFor();
  assert.equal(await zone.getAttribute("aria-invalid"), "true");
  assert.equal(await cron.getAttribute("aria-invalid"), null, "only what is wrong is marked");
  await ada.isAccessible();
  await ada.fitsAPhone();

  await zone.fill("Asia/Kolkata");
  await save("Monday to Friday at 07:30, Asia/Kolkata");
  for (const tick of await times()) {
    assert.match(tick, /T02:00:00/, "half past seven there is two o’clock in UTC");
  }
});

test("a paused schedule has no ticks and runs when its owner says so", async () => {
  await schedule.getByRole("button", { name: "Pause" }).click();
  await schedule.getByText("Paused: it runs only when you say so.").waitFor();
  assert.equal(await ticks.count(), 0);
  await work.run("Run now", /^Done after/);
  await outcome.getByText("never ran before").waitFor();
  await schedule.getByText(/^Last ran /).waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();

  await ada.page.reload();
  await ada.settled();
  await schedule.getByText("Paused: it runs only when you say so.").waitFor();
  await schedule.getByRole("button", { name: "Resume" }).click();
  await ticks.first().waitFor();
  assert.equal(await ticks.count(), 5);
  await work.run("Run now", /^Done after/);
  await outcome.getByText("ran before", { exact: true }).waitFor();
});

test("a schedule is taken away", async () => {
  await schedule.getByRole("button", { name: "Change" }).click();
  await form.getByRole("button", { name: "Remove the schedule" }).click();
  await schedule.getByText("No schedule is set: it runs when you say so.").waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});
