// An e-mail val: mail to its address runs it, as does the form on its page; and mail that vals send is in the outbox.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setUpSignedIn } from "./support/setup.mjs";

const READER =
  `interface Email { from: string; to: string[]; subject?: string; text?: string; attachments: File[] }
export default async function (email: Email) {
  console.log(email.from, "to", email.to.join(), "about", email.subject);
  console.log(email.text?.trim() ?? "no text");
  for (const file of email.attachments) console.log(file.name, file.type, await file.text());
}
`;
const SENDER = `import { email } from "https://esm.town/v/std/email";
await email({
  to: "grace@example.com",
  subject: "Weather",
  text: "It rains.",
  html: "<h1>Rain</h1><script>parent.document.title = 'taken'</script><a href='https://example.com/'>more</a>",
  attachments: [{ content: btoa("wet, wet"), filename: "days.csv", type: "text/csv" }],
});
console.log("sent");
`;
/** A message with a file, as a mail program writes it. */
const LETTER = [
  "From: Eve <eve@example.com>",
  "To: ada.inbox@mail.example.com",
  "Subject: Days",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="part"',
  "",
  "--part",
  "Content-Type: text/plain",
  "",
  "See the file.",
  "--part",
  'Content-Type: text/csv; name="days.csv"',
  'Content-Disposition: attachment; filename="days.csv"',
  "",
  "wet, dry",
  "--part--",
  "",
];

const { server, ada, work } = await setUpSignedIn({
  HAMLET_MAIL_DOMAIN: "mail.example.com",
  HAMLET_MAIL_LISTEN: "127.0.0.1:0",
});
const runs = ada.page.getByRole("list", { name: "Runs" }).getByRole("listitem");

test("a test message from the form runs the val, and is kept as its input", async () => {
  await work.create({ name: "inbox", starter: "Mail robot", code: READER });
  await ada.page.getByText("ada.inbox@mail.example.com", { exact: true }).waitFor();
  await ada.page.getByLabel("From").fill("grace@example.com");
  await ada.page.getByLabel("Subject").fill("Weather");
  await ada.page.getByLabel("Text", { exact: true }).fill("It rains.\nStill.");
  const outcome = await work.run("Send test message", /^Done after/);
  await outcome.getByText("grace@example.com to ada.inbox@mail.example.com about Weather").waitFor();
  await outcome.getByText("It rains. Still.").waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();

  await ada.page.getByRole("link", { name: "All about this run" }).click();
  const input = ada.page.getByRole("region", { name: "Input" });
  await input.getByText(`"Weather"`, { exact: true }).waitFor();
  await ada.page.getByRole("region", { name: "Facts" }).getByText("editor").waitFor();
});

test("mail to the address that the page shows runs the val, with its file", async () => {
  await ada.open("/v/ada/inbox");
  const address = await ada.page.locator(".endpoint__address").innerText();
  await post(address, LETTER);

  await ada.open("/v/ada/inbox/runs?trigger=email");
  await runs.first().getByRole("link").first().click();
  const logs = ada.page.getByRole("region", { name: "Logs", exact: true });
  await logs.getByText("Eve <eve@example.com> to ada.inbox@mail.example.com about Days").waitFor();
  await logs.getByText("days.csv text/csv wet, dry").waitFor();
  await ada.page.getByRole("region", { name: "Facts" }).getByText("e-mail", { exact: true }).waitFor();
  const input = ada.page.getByRole("region", { name: "Input" });
  await input.getByText(/See the file\./).waitFor();
  await ada.isAccessible();
  await ada.fitsAPhone();
});

test("mail that a val sends is in the outbox, with the run that sent it", async () => {
  await ada.open("/outbox");
  await ada.page.getByText("The outbox is empty").waitFor();
  await work.create({ name: "sender", starter: "Script", code: SENDER });
  await work.run("Run", /^Done after/);

  await ada.open("/outbox");
  const message = ada.page.getByRole("list", { name: "Messages" }).getByRole("listitem");
  await message.getByText("Weather", { exact: true }).click();
  await message.getByText("grace@example.com", { exact: true }).waitFor();
  await message.getByText("It rains.", { exact: true }).waitFor();
  await message.getByText("days.csv (text/csv, 8 B)").waitFor();
  await message.frameLocator("iframe").getByRole("heading", { name: "Rain" }).waitFor();
  assert.equal(await ada.page.title(), "Outbox · Hamlet");
  await ada.isAccessible();
  await ada.fitsAPhone();

  await message.getByRole("link", { name: "The run that sent it" }).click();
  await ada.page.getByRole("heading", { level: 1, name: /Done after/ }).waitFor();
  await ada.page.getByRole("navigation", { name: "Where this run belongs" }).getByText("sender").waitFor();
});

test("a message is deleted once its owner has said so twice", async () => {
  await ada.open("/outbox");
  await ada.page.getByText("Weather", { exact: true }).click();
  await ada.page.getByRole("button", { name: "Delete Weather" }).click();
  const question = ada.page.getByRole("dialog", { name: "Delete “Weather”?" });
  await question.getByRole("button", { name: "Delete message" }).click();
  await ada.page.getByText("The outbox is empty").waitFor();
});

test("nothing was printed as an error, thrown or refused on the way", async () => {
  await ada.leave();
});

/**
 * Sends a message as a mail server would, and waits until it is taken.
 * @param {string} to
 * @param {string[]} lines
 */
async function post(to, lines) {
  const listens = server.log.map((line) => line.match(/takes mail.*127\.0\.0\.1:(\d+)/)).find(Boolean);
  assert.ok(listens, "the server says where it takes mail");
  const socket = connect(Number(listens[1]), "127.0.0.1");
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]();
  /** The next reply's last line. @param {string} code */
  const reply = async (code) => {
    for (;;) {
      const { value, done } = await replies.next();
      assert.ok(!done && value.startsWith(code), `${value}, not ${code}`);
      if (value[3] !== "-") return;
    }
  };
  await reply("220");
  for (
    const [words, code] of [
      ["EHLO test", "250"],
      ["MAIL FROM:<eve@example.com>", "250"],
      [`RCPT TO:<${to}>`, "250"],
      ["DATA", "354"],
      [`${lines.join("\r\n")}\r\n.`, "250"],
      ["QUIT", "221"],
    ]
  ) {
    socket.write(`${words}\r\n`);
    await reply(code);
  }
  socket.end();
}
