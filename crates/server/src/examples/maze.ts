// An HTTP val: it has an address of its own and answers requests.
//
//   /              a new maze each time
//   /?seed=7       always the same one
//   /?size=40      a larger one

export default function handler(request: Request): Response {
  const { searchParams } = new URL(request.url);
  const seed = Number(searchParams.get("seed") ?? Math.floor(Math.random() * 10_000));
  const size = Math.min(Math.max(Number(searchParams.get("size") ?? 20), 5), 80);
  if (!Number.isInteger(seed) || !Number.isInteger(size)) {
    return new Response("seed and size are whole numbers\n", { status: 400 });
  }
  console.log(`maze ${seed}, ${size} × ${size}`);
  return new Response(page(seed, maze(size, random(seed))), {
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}

/** The walls of a maze, as an SVG path: every cell is reached in exactly one way. */
function maze(size: number, next: () => number): string {
  const open = new Set<string>();
  const seen = new Set(["0,0"]);
  const path: [number, number][] = [[0, 0]];
  while (path.length > 0) {
    const [x, y] = path[path.length - 1];
    const ways = ([[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]] as [number, number][])
      .filter(([a, b]) => a >= 0 && b >= 0 && a < size && b < size && !seen.has(`${a},${b}`));
    if (ways.length === 0) {
      path.pop(); // A dead end: back to where there was a choice.
      continue;
    }
    const [a, b] = ways[Math.floor(next() * ways.length)];
    seen.add(`${a},${b}`);
    open.add(`${Math.max(x, a)},${Math.max(y, b)},${x === a ? "top" : "left"}`);
    path.push([a, b]);
  }
  let walls = `M${size} 0V${size - 1}M0 ${size}H${size}`;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (!open.has(`${x},${y},top`)) walls += `M${x} ${y}h1`;
      if (!open.has(`${x},${y},left`) && x + y > 0) walls += `M${x} ${y}v1`;
    }
  }
  return `<svg viewBox="-1 -1 ${size + 2} ${size + 2}"><path d="${walls}"/></svg>`;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function page(seed: number, drawing: string): string {
  return `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>Maze ${seed}</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui }
  body { display: grid; justify-items: center; margin: 1rem }
  svg { width: min(90vmin, 40rem); stroke: currentColor; stroke-width: .2; stroke-linecap: round; fill: none }
</style>
<h1>Maze ${seed}</h1>
${drawing}
<p><a href="?seed=${seed}">this one</a> · <a href="?">another</a></p>
`;
}
