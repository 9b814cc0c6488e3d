// A scheduled val: it is run at each tick, and told when it ran last.
interface Tick {
  lastRunAt?: Date;
}

export default async function (tick: Tick) {
  const since = tick.lastRunAt?.toISOString() ?? "the beginning";
  console.log("Looking at what happened since", since);

  const started = performance.now();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(since));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  console.log(`Done in ${(performance.now() - started).toFixed(1)} ms: ${hex.slice(0, 12)}`);
}
