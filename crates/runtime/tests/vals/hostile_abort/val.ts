console.log("before");
process.abort();
