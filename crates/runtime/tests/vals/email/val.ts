export default async (email: any) => {
  const [file] = email.attachments;
  console.log(email.from, email.to, email.subject, file instanceof File, file.name, file.type, await file.text());
};
