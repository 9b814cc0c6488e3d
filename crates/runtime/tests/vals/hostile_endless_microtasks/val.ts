console.log("before");
const again = (): Promise<void> => Promise.resolve().then(again);
await again();
