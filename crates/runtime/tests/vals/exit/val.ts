console.log("before");
Deno.exit(5);
