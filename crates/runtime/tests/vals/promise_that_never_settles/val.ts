export default async () => {
  console.log("waiting");
  await new Promise(() => {});
};
