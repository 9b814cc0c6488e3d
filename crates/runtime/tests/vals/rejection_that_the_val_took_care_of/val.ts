addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  console.log("taken care of");
});
Promise.reject(new Error("mine"));
await new Promise((resolve) => setTimeout(resolve, 5));
export default 1;
