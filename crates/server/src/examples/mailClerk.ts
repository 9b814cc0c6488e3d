// An email val: it has a mail address, and each message that comes is a run.

interface Email {
  from: string;
  to: string[];
  subject?: string;
  text?: string;
  attachments: File[];
}

export default function mailClerk(email: Email) {
  const text = email.text ?? "";
  const words = text.split(/\s+/).filter(Boolean);
  const links = text.match(/https?:\/\/[^\s<>"')]*[^\s<>"').,;:!?]/g) ?? [];

  console.log(`“${email.subject ?? "(no subject)"}” from ${email.from}`);
  console.log(`${words.length} words, about ${Math.max(1, Math.round(words.length / 220))} min to read`);
  for (const url of new Set(links)) {
    console.log(`link: ${url}`);
  }
  for (const file of email.attachments) {
    console.log(`attached: ${file.name}, ${(file.size / 1000).toFixed(1)} kB`);
  }
  if (/\b(urgent|asap|immediately)\b/i.test(`${email.subject} ${text}`)) {
    console.warn("its author says that it is urgent");
  }
}
