console.log("before");
for (let thread = 0; thread < 4; thread++) new Worker("data:text/javascript,for (;;);", { type: "module" });
await new Promise(() => {});
