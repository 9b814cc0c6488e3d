console.log("\ud800 x");
console.log("😀".slice(1));
throw new Error("\ud800");
