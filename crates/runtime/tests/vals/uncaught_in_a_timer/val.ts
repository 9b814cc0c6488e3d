setTimeout(() => {
  throw new Error("in a timer");
});
await new Promise((resolve) => setTimeout(resolve, 1e6));
