// A script: its default export is a function, so other programs can call it.
//
//   curl -H "Authorization: Bearer $TOKEN" "$HAMLET/v1/run/$YOU.sparkline?args=[[3,1,4,1,5,9,2,6]]"

const BARS = "▁▂▃▄▅▆▇█";

/** Draws numbers as a line of little bars, as high as they are large. */
export default function sparkline(numbers: number[] = lastWeek()): string {
  if (numbers.length === 0) {
    throw new RangeError("nothing to draw: send at least one number");
  }
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  const step = (high - low || 1) / (BARS.length - 1);
  const line = numbers
    .map((n) => BARS[Math.round((n - low) / step)])
    .join("");

  // What is logged here is kept with the run.
  console.log(line);
  console.info(`${numbers.length} numbers from ${low} to ${high}`);
  return line;
}

/** Something to draw when the page's Run button sends no arguments. */
function lastWeek(): number[] {
  return Array.from({ length: 7 }, (_, day) => Math.round(10 + 8 * Math.sin(day)));
}
