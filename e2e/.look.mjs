import { createRequire } from "node:module";
const base = "/work/main/e2e/";
const { launch, Visitor } = await import(base + "support/browser.mjs");
const { Server } = await import(base + "support/server.mjs");
const { signIn, Workspace } = await import(base + "support/workspace.mjs");
const server = await Server.start();
const browser = await launch();
try {
  const ada = await Visitor.arrive(browser, server.url);
  await signIn(ada, server.link);
  const work = new Workspace(ada);
  const page = ada.page;
  const shot = (name) => page.screenshot({ path: `/tmp/a/shots/${name}.png`, fullPage: true });
  const slow = `for (let i = 0; i < 12; i++) { console.log("step", i); await new Promise((d) => setTimeout(d, 250)); }
export default (x: number) => ({ answer: x ?? 42 });
`;
  await work.create({ name: "slow", starter: "Script", code: slow });
  await page.getByLabel("Arguments").fill("[7]");
  await page.getByRole("button", { name: /^(Save and )?[Rr]un$/ }).first().click();
  await page.getByText("step 3").waitFor();
  const going = await page.getByText("Running", { exact: true }).count();
  console.log("live: running shown", going, "step 11 shown", await page.getByText("step 11").count());
  await shot("live");
  await page.getByText(/^Done after/).waitFor();
  console.log("requests for the run: see below");
  await page.getByRole("link", { name: "All about this run" }).click();
  await page.getByRole("button", { name: "Run again" }).waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  for (let n = 0; n < 12; n++) { console.log(page.url()); await page.waitForTimeout(60); }
  console.log(await page.evaluate(() => fetch(document.querySelector("script[type=module]")?.src ?? "/").then(r => r.url)), await page.evaluate(() => performance.getEntriesByType("resource").map(e => e.name.split("/").pop()).filter(n => n.includes("wasm") || n.includes("events")).join("\n")));
}finally { await browser.close(); await server.stop(); }
