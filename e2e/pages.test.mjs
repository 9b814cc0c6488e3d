// Every page, for its owner and for a visitor: it survives a reload, has no accessibility fault in light and in dark,
// fits a small phone, and prints no error.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Visitor } from "./support/browser.mjs";
import { setUpSignedIn } from "./support/setup.mjs";

const LOUD =
  `for (let line = 0; line < 40; line++) console.log("line", line, { nested: { list: [line, "text"] } });
console.warn("careful");
console.error("too late");
export default { answer: 42, list: [1, 2, 3] };
`;

const MESSAGE = {
  to: ["grace@example.com", "a.very.long.name.for.a.mailbox@a.very.long.name.for.a.host.example.com"],
  subject: "Weather",
  text: "It rains.",
  html: `<style>h1 { color: rgb(1, 2, 3) }</style><h1 style="margin: 7px">Rain</h1><script>throw 1</script>`,
};

/** How far what is shown may move by itself while a page loads, as browsers measure it. */
const MOST_SHIFT = 0.02;

const { server, browser, ada, work } = await setUpSignedIn();
const guest = await Visitor.arrive(browser, server.url);
/** @type {string} */
let run;
/** @type {string} */
let later;

before(async () => {
  await work.create({ name: "loud", starter: "Script", code: LOUD });
  await work.run("Run", /^Done after/);
  const more = ada.page.getByRole("link", { name: "All about this run" });
  run = new URL((await more.getAttribute("href")) ?? "", server.url).pathname;
  await work.write(LOUD.replace("40", "50"), "Code of loud");
  await work.run("Save and run", /^Done after/);
  later = new URL((await more.getAttribute("href")) ?? "", server.url).pathname;
  await work.makePublic();
  await ada.page.evaluate(async (message) => {
    const headers = { "content-type": "application/json" };
    const sent = await fetch("/v1/email", { method: "POST", headers, body: JSON.stringify(message) });
    if (!sent.ok) throw new Error(await sent.text());
  }, MESSAGE);
});

/** A page, and a heading that only this page has. @type {[path: string, heading: RegExp | string][]} */
const OWNERS = [
  ["/", "Your vals"],
  ["/new", "New val"],
  ["/settings", "Settings"],
  ["/outbox", "Outbox"],
  ["/u/ada", "ada"],
  ["/u/ada?type=http", "ada"],
  ["/v/ada/loud", /loud/],
  ["/v/ada/maze", /maze/],
  ["/v/ada/moonWatch", /moonWatch/],
  ["/v/ada/mailClerk", /mailClerk/],
  ["/v/ada/loud/versions", /loud/],
  ["/v/ada/loud/versions?compare=0..1", /loud/],
  ["/v/ada/loud/versions?compare=0..1&view=unified", /loud/],
  ["/v/ada/loud/versions/0", /loud/],
  ["/v/ada/loud/runs", /loud/],
  ["/v/ada/maze/runs", /maze/],
  ["/v/ada/loud/settings", /loud/],
];
/** @type {[path: string, heading: RegExp | string][]} */
const VISITORS = [
  ["/", /Small TypeScript programs/],
  ["/login", "Sign in"],
  ["/login?by=token", "Sign in"],
  ["/settings", "Sign in to see this"],
  ["/new", "Sign in to see this"],
  ["/outbox", "Sign in to see this"],
  ["/u/ada", "ada"],
  ["/v/ada/loud", /loud/],
  ["/v/ada/maze", /maze/],
  ["/v/ada/loud/versions", /loud/],
  ["/v/ada/loud/versions?compare=0..1", /loud/],
  ["/v/ada/loud/versions/0", /loud/],
  ["/v/ada/loud/runs", "Its runs are its owner’s"],
];

describe("for the owner", () => {
  for (const [path, heading] of OWNERS) {
    test(path, () => inspect(ada, path, heading));
  }
  test("a run", () => inspect(ada, run, /^ok Done after|^Done after/));
  test("two runs side by side", () => {
    assert.notEqual(later, run);
    return inspect(ada, `${later}?beside=${run.split("/").at(-1)}`, /^ok Done after|^Done after/);
  });
});

describe("for a visitor", () => {
  for (const [path, heading] of VISITORS) {
    test(path, () => inspect(guest, path, heading));
  }
  for (
    const path of ["/v/ada/nothing", "/u/nobody", "/nowhere", "/v/ada/moonWatch", "/v/ada/mailClerk/versions"]
  ) {
    test(`nothing is told of ${path}`, async () => {
      guest.expect(/status of 404/);
      await inspect(guest, path, "Nothing here");
    });
  }
  test("nothing is told of a run", async () => {
    guest.expect(/status of 401/);
    await guest.open(run);
    const heading = await guest.page.locator("h1").first().innerText();
    assert.match(heading, /Sign in to see this|Nothing here/);
  });
  test("nothing is offered that only the owner may do", async () => {
    await guest.open("/v/ada/loud");
    await guest.page.getByRole("region", { name: "Code of loud" }).waitFor();
    for (const name of ["Save", "Run", "Save and run", "Delete", "Restore", "New val"]) {
      assert.equal(await guest.page.getByRole("button", { name, exact: true }).count(), 0, name);
    }
    assert.equal(await guest.page.getByRole("link", { name: "Settings" }).count(), 0);
    assert.equal(await guest.page.getByRole("link", { name: "Runs" }).count(), 0);
    await guest.open("/v/ada/loud/versions");
    assert.equal(await guest.page.getByRole("button", { name: /^(Delete|Restore)/ }).count(), 0);
  });
});

test("a message in the outbox is drawn as it was made, and nothing of it runs", async () => {
  await ada.open("/outbox");
  await ada.page.getByText("Weather").click();
  const heading = ada.page.frameLocator("iframe").getByRole("heading", { name: "Rain" });
  await heading.waitFor();
  const look = await heading.evaluate((heading) => {
    const { color, marginTop } = getComputedStyle(heading);
    return { color, marginTop, origin, scripts: document.scripts.length };
  });
  assert.deepEqual(look, { color: "rgb(1, 2, 3)", marginTop: "7px", origin: "null", scripts: 0 });
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("private vals are in no list that a visitor sees", async () => {
  for (const path of ["/", "/u/ada"]) {
    await guest.open(path);
    await guest.page.getByRole("link", { name: "maze" }).first().waitFor();
    const text = await guest.page.locator("body").innerText();
    assert.doesNotMatch(text, /moonWatch|mailClerk/);
  }
});

test("the palette and the shortcuts open by key, and are without fault", async () => {
  await ada.open("/");
  await ada.page.keyboard.press("/");
  await ada.page.getByRole("combobox").fill("maz");
  await ada.page.getByRole("option", { name: /maze/ }).first().waitFor();
  await ada.isAccessible();
  await ada.page.keyboard.press("Enter");
  await ada.page.waitForURL("**/v/ada/maze");
  await ada.open("/");
  await ada.page.keyboard.press("?");
  await ada.page.getByRole("dialog").waitFor();
  await ada.isAccessible();
  await ada.page.keyboard.press("Escape");
  await ada.page.getByRole("dialog").waitFor({ state: "hidden" });
});

test("a chosen theme is there before the app is", async () => {
  await ada.page.emulateMedia({ colorScheme: "light" });
  await ada.open("/");
  await ada.page.getByRole("button", { name: /^Account of/ }).click();
  await ada.page.getByRole("button", { name: "Theme: dark" }).click();
  await ada.page.route("**/*.wasm", (route) => route.abort());
  ada.expect(/wasm|ERR_FAILED|thrown/i);
  await ada.page.reload();
  const scheme = await ada.page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  assert.equal(scheme, "dark");
  await ada.page.unroute("**/*.wasm");
  await ada.open("/");
  await ada.page.getByRole("button", { name: /^Account of/ }).click();
  await ada.page.getByRole("button", { name: "Theme: as the system" }).click();
});

test("nothing was printed as an error, thrown or refused on any page", async () => {
  await guest.leave();
  await ada.leave();
});

/**
 * Opens a page by its address, reloads it, and looks at it in every way.
 * @param {Visitor} visitor
 * @param {string} path
 * @param {RegExp | string} heading
 */
async function inspect(visitor, path, heading) {
  for (
    const arrive of [() => visitor.open(path), () => visitor.page.reload().then(() => visitor.settled())]
  ) {
    await arrive();
    await visitor.page.getByRole("heading", { level: 1, name: heading }).first().waitFor();
    assert.notEqual(await visitor.page.title(), "");
  }
  await visitor.isAccessible();
  await visitor.fitsAPhone();
  const moved = await shift(visitor.page);
  assert.ok(moved < MOST_SHIFT, `${path} moved by ${moved} while it loaded`);
}

/** How far what was shown has moved by itself since the page was loaded. @param {import("playwright-core").Page} page */
async function shift(page) {
  await page.reload();
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        let total = 0;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            // @ts-ignore: of layout-shift entries, which the types don't know
            if (!entry.hadRecentInput) total += entry.value;
          }
        });
        observer.observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(total))));
      }),
  );
}
