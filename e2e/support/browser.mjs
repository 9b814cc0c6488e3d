// A browser whose every page is watched: what it prints as an error, throws, or is refused by the page's policy.
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Vals answer on names below localhost, which not every system resolves.
  "--host-resolver-rules=MAP *.localhost 127.0.0.1",
];

/** Starts the browser. */
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROME ?? "/usr/bin/chromium", args: ARGUMENTS });
}

/** A visitor: a browser profile of their own with one page. */
export class Visitor {
  /**
   * @param {import("playwright-core").BrowserContext} context
   * @param {import("playwright-core").Page} page
   * @param {string} url
   */
  constructor(context, page, url) {
    this.context = context;
    this.page = page;
    this.url = url;
    /** What went wrong and was not expected, and the page where it first did. @type {Map<string, string>} */
    this.faults = new Map();
    /** Failures that a test brings about. @type {RegExp[]} */
    this.expected = [];
  }

  /**
   * @param {import("playwright-core").Browser} browser
   * @param {string} url where the server is
   * @param {import("playwright-core").BrowserContextOptions} [options]
   */
  static async arrive(browser, url, options) {
    const context = await browser.newContext({
      baseURL: url,
      viewport: { width: 1280, height: 800 },
      ...options,
    });
    context.setDefaultTimeout(20_000);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: url });
    const page = await context.newPage();
    const visitor = new Visitor(context, page, url);
    page.on("pageerror", (error) => visitor.note(`thrown: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        visitor.note(`${message.type()}: ${message.text()}`);
      }
    });
    await page.exposeFunction("noteRefusal", (/** @type {string} */ refusal) => visitor.note(refusal));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        // @ts-ignore: put there by exposeFunction
        noteRefusal(`policy ${event.effectiveDirective} refused ${event.blockedURI} at ${event.sourceFile}`);
      });
    });
    return visitor;
  }

  /** @param {string} fault */
  note(fault) {
    const isNew = !this.faults.has(fault) && !this.expected.some((pattern) => pattern.test(fault));
    if (isNew) this.faults.set(fault, new URL(this.page.url()).pathname);
  }

  /** Says that faults like this are part of the test. @param {RegExp} pattern */
  expect(pattern) {
    this.expected.push(pattern);
  }

  /** Opens an address and waits until the page shows what it is about. @param {string} path */
  async open(path) {
    await this.page.goto(path);
    await this.settled();
  }

  /** Waits until nothing is loading any more. */
  async settled() {
    await this.page.locator("h1").first().waitFor();
    await this.page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
  }

  /** Leaves, and fails if anything was wrong on the way. */
  async leave() {
    await this.context.close();
    const faults = [...this.faults].map(([fault, path]) => `${path}: ${fault}`);
    assert.equal(faults.length, 0, faults.join("\n"));
  }

  /** No accessibility fault, in light and in dark. */
  async isAccessible() {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      await this.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const { violations } = await new AxeBuilder({ page: this.page }).analyze();
      const found = violations.map(({ id, help, nodes }) => ({
        id,
        help,
        nodes: nodes.map((node) => `${node.html}: ${node.failureSummary}`),
      }));
      assert.deepEqual(found, [], `${this.page.url()} in ${colorScheme}`);
    }
  }

  /** Nothing is wider than a small phone, and nothing is left out for it. */
  async fitsAPhone() {
    const size = this.page.viewportSize();
    await this.page.setViewportSize({ width: 320, height: 640 });
    const wide = await this.page.evaluate(() => {
      const scrolls = document.documentElement.scrollWidth > document.documentElement.clientWidth;
      if (!scrolls) return [];
      return [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
        .map((element) => `${element.tagName}.${element.className}`)
        .slice(0, 8);
    });
    if (size) await this.page.setViewportSize(size);
    assert.deepEqual(wide, [], `${this.page.url()} scrolls sideways at 320 px`);
  }
}
