// A mail robot: it is run for each message to the val's address.
interface Email {
  from: string;
  to: string[];
  subject?: string;
  text?: string;
}

export default function (email: Email) {
  const words = (email.text ?? "").split(/\s+/).filter(Boolean);
  console.log(`From ${email.from}: ${email.subject ?? "(no subject)"}, ${words.length} words`);

  if (words.some((word) => word.toLowerCase().startsWith("urgent"))) {
    console.warn("This one is urgent.");
  }
}
