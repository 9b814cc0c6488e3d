throw new Proxy(() => {}, {
  get() {
    throw new Error("no name");
  },
  getPrototypeOf() {
    throw new Error("no prototype");
  },
});
