export default (_: Request) => {
  console.log("before");
  throw new RangeError("no");
};
