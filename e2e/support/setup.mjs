// What a file of tests begins with: a server and a browser, which end with the file, and who visits first.
import { after } from "node:test";
import { launch, Visitor } from "./browser.mjs";
import { Server } from "./server.mjs";
import { signIn, Workspace } from "./workspace.mjs";

/**
 * Starts a server and a browser, with a visitor whom the server does not know; `begin` is what the visitor does first,
 * `settings` are the server's by their environment variables.
 */
export async function setUp(
  begin = async (/** @type {Visitor} */ _visitor, /** @type {Server} */ _server) => {},
  settings = /** @type {Record<string, string>} */ ({}),
) {
  const server = await Server.start(settings);
  /** @type {import("playwright-core").Browser | undefined} */
  let browser;
  const end = async () => {
    await browser?.close();
    await server.stop();
  };
  try {
    browser = await launch();
    const visitor = await Visitor.arrive(browser, server.url);
    await begin(visitor, server);
    after(end);
    return { server, browser, visitor };
  } catch (error) {
    // A file that fails before its tests runs no hook.
    await end();
    throw error;
  }
}

/** As `setUp`, with the visitor signed in as the server's owner. No hook does that: a file's own would not wait for it. */
export async function setUpSignedIn(settings = /** @type {Record<string, string>} */ ({})) {
  const { server, browser, visitor: ada } = await setUp(
    (visitor, server) => signIn(visitor, server.link),
    settings,
  );
  return { server, browser, ada, work: new Workspace(ada) };
}
