console.log("before");
/^(\w+\s?)*$/.test("a".repeat(60) + "!");
