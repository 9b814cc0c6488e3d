// The pages of one val, by what a person sees on them.
import assert from "node:assert/strict";

/** The place where a val's code is written and run. */
export class Workspace {
  /** @param {import("./browser.mjs").Visitor} visitor */
  constructor(visitor) {
    this.visitor = visitor;
    this.page = visitor.page;
  }

  /** The editor, once it has taken over from the plain field. @param {string} name */
  async editor(name) {
    const editor = this.page.getByRole("textbox", { name, exact: true }).and(
      this.page.locator(".cm-content"),
    );
    await editor.waitFor();
    return editor;
  }

  /** Writes code in place of what is there. @param {string} code @param {string} name */
  async write(code, name) {
    const editor = await this.editor(name);
    await editor.click();
    await this.page.keyboard.press("Control+A");
    // Over a selection, Chromium itself writes inline styles, which the policy refuses and the editor takes out again.
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.insertText(code);
  }

  /** What is written. @param {string} name */
  async written(name) {
    const editor = await this.editor(name);
    const lines = await editor.locator(".cm-line").allTextContents();
    return lines.join("\n");
  }

  /** Waits until the page says how the code stands. @param {string} words */
  async says(words) {
    await this.page.getByText(words, { exact: true }).waitFor();
  }

  /** Makes a val with the form of new vals. @param {{ name: string, starter: string, code: string }} val */
  async create({ name, starter, code }) {
    await this.visitor.open("/new");
    await this.page.getByRole("radio", { name: starter }).check();
    await this.page.getByLabel("Name").fill(name);
    await this.write(code, "Code of the new val");
    await this.page.getByRole("button", { name: "Create" }).click();
    await this.page.waitForURL(`**/v/*/${name}`);
    await this.visitor.settled();
    await this.says("Saved");
  }

  /**
   * Presses the button that starts a run, and waits for the sentence of that run, not of one before.
   * @param {string} verb
   * @param {RegExp} sentence
   */
  async run(verb, sentence) {
    const outcome = this.page.getByRole("region", { name: "Outcome" });
    const run = this.page.getByRole("link", { name: "All about this run" });
    const earlier = await run.count() > 0 ? await run.getAttribute("href") : "";
    await this.page.getByRole("button", { name: verb, exact: true }).click();
    await run.and(this.page.locator(`:not([href="${earlier}"])`)).waitFor();
    await outcome.getByRole("status").filter({ hasText: sentence }).waitFor();
    return outcome;
  }

  /** Goes to a part of the val by its tab. @param {string} tab */
  async goTo(tab) {
    await this.page.getByRole("navigation", { name: /^Parts of/ }).getByRole("link", { name: tab }).click();
    await this.page.waitForURL(tab === "Code" ? /\/v\/[^/]+\/[^/]+$/ : new RegExp(`/${tab.toLowerCase()}$`));
    await this.visitor.settled();
  }

  /** Lets anyone see the val, on the page of its settings. */
  async makePublic() {
    await this.goTo("Settings");
    await this.page.getByLabel("Privacy").selectOption("public");
    await this.page.getByRole("button", { name: "Save settings" }).click();
    await this.page.getByText("Saved.").waitFor();
  }

  /** The numbers of the versions that are listed, newest first. */
  async versions() {
    const links = this.page.getByRole("list", { name: "Versions" }).locator("a.row__link");
    const texts = await links.allTextContents();
    return texts.map((text) => Number(text.match(/\d+/)?.[0]));
  }
}

/** Signs in by the one-time link. @param {import("./browser.mjs").Visitor} visitor @param {string} link */
export async function signIn(visitor, link) {
  await visitor.page.goto(link);
  await visitor.page.getByRole("heading", { name: "Your vals" }).waitFor();
  assert.equal(new URL(visitor.page.url()).pathname, "/", "the used link leaves the address");
}
