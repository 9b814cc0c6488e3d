const fail = () => new Error("shown");
console.log(fail());
