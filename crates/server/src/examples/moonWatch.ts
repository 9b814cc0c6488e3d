// A scheduled val: it runs by itself. Its handler is told when it ran last.

const SYNODIC_MONTH = 29.530588853; // days from one new moon to the next, on average
const A_NEW_MOON = Date.UTC(2000, 0, 6, 18, 14);
const DAY = 24 * 60 * 60 * 1000;

const PHASES = [
  "🌑 new moon", "🌒 waxing crescent", "🌓 first quarter", "🌔 waxing gibbous",
  "🌕 full moon", "🌖 waning gibbous", "🌗 last quarter", "🌘 waning crescent",
];

export default function moonWatch({ lastRunAt }: { lastRunAt?: Date } = {}) {
  const today = moon(new Date());
  console.log(`${today.name}, ${Math.round(today.lit * 100)} % lit`);
  console.log(`next full moon in ${today.daysToFull.toFixed(1)} days`);

  // Said once, on the first run after the phase has changed.
  if (lastRunAt && moon(lastRunAt).name !== today.name) {
    console.warn(`the moon has changed: it is a ${today.name} now`);
  }
}

/** How the moon looks at a time; right to within some hours. */
function moon(time: Date) {
  const age = positive((time.getTime() - A_NEW_MOON) / DAY, SYNODIC_MONTH);
  const turn = age / SYNODIC_MONTH;
  return {
    name: PHASES[Math.round(turn * 8) % 8],
    lit: (1 - Math.cos(2 * Math.PI * turn)) / 2,
    daysToFull: positive(SYNODIC_MONTH / 2 - age, SYNODIC_MONTH),
  };
}

/** The remainder that is never negative. */
function positive(n: number, divisor: number): number {
  return ((n % divisor) + divisor) % divisor;
}
