export default async () => {
  Promise.reject(new Error("nobody waits for me"));
  await new Promise((resolve) => setTimeout(resolve, 1));
  return new Response("answered all the same");
};
