console.log("before");
Promise.reject(new Error("nobody caught me"));
await new Promise((resolve) => setTimeout(resolve, 1e6));
