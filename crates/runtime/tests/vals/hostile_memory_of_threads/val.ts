console.log("before");
for (;;) {
  new Worker("data:text/javascript,const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));", {
    type: "module",
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
}
