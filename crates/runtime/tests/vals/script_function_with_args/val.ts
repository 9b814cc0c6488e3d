export default async function add(a: number, b: number) {
  console.log('adding');
  return a + b;
}
