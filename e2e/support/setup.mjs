// What a file of tests begins with: a server and a browser, which end with the file, and who visits first.
import { after, before } from "node:test";
import { launch, Visitor } from "./browser.mjs";
import { Server } from "./server.mjs";
import { signIn, Workspace } from "./workspace.mjs";

/** Starts a server and a browser, with a visitor whom the server does not know. */
export async function setUp() {
  const server = await Server.start();
  try {
    const browser = await launch();
    after(async () => {
      await browser.close();
      await server.stop();
    });
    const visitor = await Visitor.arrive(browser, server.url);
    return { server, browser, visitor };
  } catch (error) {
    // A file that fails before its tests runs no hook.
    await server.stop();
    throw error;
  }
}

/** As `setUp`; before the tests, the visitor signs in as the server's owner. */
export async function setUpSignedIn() {
  const { server, browser, visitor: ada } = await setUp();
  before(() => signIn(ada, server.link));
  return { server, browser, ada, work: new Workspace(ada) };
}
