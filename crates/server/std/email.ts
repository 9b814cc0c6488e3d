/** Outgoing mail. */

import { call, reason } from "https://esm.town/v/std/client";

/** An address alone, or with the name of whose it is. */
export type Address = string | { email: string; name?: string };

/** A file that goes with a message. */
export interface Attachment {
  filename: string;
  /** In base64, or the bytes themselves. */
  content: string | Uint8Array | ArrayBuffer | Blob;
  type?: string;
  contentId?: string;
  disposition?: "attachment" | "inline";
}

/** A message; `to` is the val's author unless it says otherwise. */
export interface EmailOptions {
  to?: Address | Address[];
  cc?: Address | Address[];
  bcc?: Address | Address[];
  from?: Address;
  replyTo?: Address;
  replyToList?: Address[];
  subject?: string;
  text?: string;
  html?: string;
  /** A `File`, as those of a message that came in, goes with its name and type. */
  attachments?: (Attachment | File)[];
  headers?: Record<string, string>;
}

/** A message was refused. */
export class EmailError extends Error {
  override name = "EmailError";
}

async function inBase64(content: Attachment["content"]): Promise<string> {
  if (typeof content === "string") return content;
  if (content instanceof Uint8Array) return content.toBase64();
  return new Uint8Array(content instanceof Blob ? await content.arrayBuffer() : content).toBase64();
}

async function prepared(attachment: Attachment | File): Promise<Attachment> {
  if (attachment instanceof File) {
    const type = attachment.type || undefined;
    return { filename: attachment.name, type, content: await inBase64(attachment) };
  }
  return { ...attachment, content: await inBase64(attachment.content) };
}

/** Sends a message, or queues it; what comes back says which. */
export async function email(options: EmailOptions = {}): Promise<{ message: string }> {
  const attachments = options.attachments && await Promise.all(options.attachments.map(prepared));
  const response = await call("v1/email", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...options, attachments }),
  });
  if (!response.ok) throw new EmailError(await reason(response));
  return await response.json();
}

export default email;
