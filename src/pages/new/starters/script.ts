// A script: its default export is called with the arguments you give it, and what it returns is kept with the run.
export default function greet(name: string = "world"): string {
  console.log("greeting", name);
  return `Hello, ${name}!`;
}
