interface Shape {
  side: number;
}

enum Kind {
  Round,
  Square = 4,
}

function area(shape: Shape): number {
  if (shape.side < 0) throw new RangeError(`no side: ${Kind.Square}`);
  return shape.side ** 2;
}

export default async (side: number) => {
  await Promise.resolve();
  return area({ side });
};
