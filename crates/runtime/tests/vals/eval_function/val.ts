async (name: string, n: number) => {
  if (n > 1) throw new Error(name);
  return name.repeat(n);
}
