let nested: unknown[] = [];
for (let depth = 0; depth < 1e6; depth++) nested = [nested];
console.log(nested);
console.log("after");
export default nested;
