console.log(1);
const value = await new Promise<number>((resolve) => setTimeout(() => resolve(7), 1));
console.log(2);
export default Promise.resolve(value);
