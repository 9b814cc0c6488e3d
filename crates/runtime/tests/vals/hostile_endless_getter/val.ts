console.log("before");
throw {
  get message(): string {
    for (;;);
  },
};
