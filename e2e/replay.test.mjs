// Running again with the same input: what a run was given is shown, sent again, and the two outcomes stand side by side.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const PAGE = `export default async function (request: Request): Promise<Response> {
  console.log(request.method, request.headers.get("x-word"), request.headers.has("authorization"));
  return Response.json(await request.json());
}
`;
const INBOX = `export default function (email: { from: string; subject?: string; text?: string }) {
  console.log(email.from, email.subject, email.text);
}
`;

/** A script that names what it returns. @param {string} name */
const price = (name) =>
  `export default function (amount: number) {
  console.log("${name} of", amount);
  return { ${name}: amount };
}
`;

const { server, ada, work } = await setUpSignedIn();

test("a request that came from outside is sent again with its headers and its body", async () => {
  await work.create({ name: "mirror", starter: "Page or API", code: PAGE });
  await work.makePublic();
  assert.equal(await post(`{"city":"Berlin"}`), 200);

  await ada.open("/v/ada/mirror/runs");
  const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await runs.first().getByRole("link").first().click();
  await ada.page.getByRole("heading", { level: 1, name: /Answered 200/ }).waitFor();
  const input = ada.page.getByRole("region", { name: "Input" });
  await input.getByText(`"Berlin"`, { exact: true }).waitFor();
  await input.getByText(/\d headers/).click();
  await input.getByText("not kept").waitFor();
  assert.doesNotMatch(await ada.page.locator("body").innerText(), /c2VjcmV0/);
  const earlier = new URL(ada.page.url()).pathname;

  await ada.page.getByText("Without what was not kept of the request: authorization.").waitFor();
  await ada.page.getByRole("button", { name: "Run again" }).click();
  await ada.page.waitForURL(/\?beside=/);
  await ada.page.getByText(/^The same result, other logs/).waitFor();
  const now = ada.page.getByRole("region", { name: "Logs of this run" });
  const then = ada.page.getByRole("region", { name: "Logs of the earlier run" });
  await now.getByText("POST one false").waitFor();
  await then.getByText("POST one true").waitFor();
  assert.equal(
    await ada.page.getByRole("link", { name: "an earlier run", exact: true }).getAttribute("href"),
    earlier,
  );
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("a message is given again", async () => {
  await work.create({ name: "inbox", starter: "Mail robot", code: INBOX });
  await ada.page.getByLabel("From").fill("eve@example.com");
  await ada.page.getByLabel("Subject").fill("weather");
  await ada.page.getByLabel("Text", { exact: true }).fill("It rains.");
  await work.run("Send test message", /^Done after/);
  await ada.page.getByRole("link", { name: "All about this run" }).click();
  const input = ada.page.getByRole("region", { name: "Input" });
  await input.getByText("It rains.").waitFor();
  await ada.page.getByRole("button", { name: "Run again" }).click();
  await ada.page.waitForURL(/\?beside=/);
  await ada.page.getByText(/^The same result, the same logs/).waitFor();
  const now = ada.page.getByRole("region", { name: "Logs of this run" });
  await now.getByText("eve@example.com weather It rains.").waitFor();
});

test("the same input is given to other versions, and what came of it stands side by side", async () => {
  await work.create({ name: "price", starter: "Script", code: price("net") });
  await ada.page.getByLabel("Arguments").fill("[100]");
  await work.run("Run", /^Done after/);
  await ada.page.getByRole("link", { name: "All about this run" }).click();
  await ada.page.getByRole("button", { name: "Run again" }).waitFor();
  const first = new URL(ada.page.url()).pathname;
  await ada.open("/v/ada/price");
  for (const [version, name] of /** @type {const} */ ([[1, "gross"], [2, "total"]])) {
    await work.write(price(name), "Code of price");
    await ada.page.keyboard.press("Control+S");
    await ada.page.getByRole("link", { name: new RegExp(`^v${version}, saved`) }).waitFor();
  }

  await ada.open(first);
  await ada.page.getByRole("button", { name: "Run again on v0" }).waitFor();
  await ada.page.getByRole("button", { name: "Run on latest, v2" }).click();
  await ada.page.waitForURL(/\?beside=/);
  await ada.page.getByText(/^Another result, other logs/).waitFor();
  const now = ada.page.getByRole("article", { name: "This run" });
  const then = ada.page.getByRole("article", { name: "The earlier run" });
  await now.getByText("Version 2,").waitFor();
  await now.getByText("{ total: 100 }").waitFor();
  await then.getByText("Version 0,").waitFor();
  await then.getByText("{ net: 100 }").waitFor();

  await ada.open(first);
  await ada.page.getByText("On another version").click();
  await ada.page.getByLabel("Version").selectOption("v1");
  await ada.isAccessible();
  await ada.fitsAPhone();
  await ada.page.getByRole("button", { name: "Run on this version" }).click();
  await ada.page.waitForURL(/\?beside=/);
  await now.getByText("{ gross: 100 }").waitFor();
  await ada.page.getByRole("link", { name: "Show this run alone" }).click();
  await ada.page.getByRole("region", { name: "Input" }).getByText("[100]").waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});

/**
 * Asks the val by its host name, which not every system resolves.
 * @param {string} body
 * @returns {Promise<number | undefined>}
 */
function post(body) {
  const { port } = new URL(server.url);
  const headers = {
    host: `ada-mirror.localhost:${port}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    authorization: "Basic c2VjcmV0",
    "x-word": "one",
  };
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, method: "POST", path: "/in", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
