export default {
  then(resolve: (value: unknown) => void) {
    console.log("asked");
    resolve({
      toJSON() {
        return { forged: this };
      },
    });
  },
};
