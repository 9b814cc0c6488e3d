console.log("before");
for (let count = 0;; count++) {
  Deno.writeTextFileSync(`file${count}`, "");
  if (count % 1000 === 0) await new Promise((resolve) => setTimeout(resolve));
}
