// Long columns, drawn fast: a pyramid of minima and maxima, so that a picture costs as much as it has pixels and loses no extreme.

const FACTOR = 4;
/** Columns shorter than this are drawn as they are. */
const PLAIN_MAX = 4096;

interface Level { low: Float64Array; high: Float64Array; size: number }

const pyramids = new WeakMap<Float64Array, Level[]>();

function pyramid(values: Float64Array): Level[] {
  let levels = pyramids.get(values);
  if (levels) return levels;
  levels = [];
  let low = values, high = values, size = 1;
  while (low.length > PLAIN_MAX / FACTOR) {
    const n = Math.ceil(low.length / FACTOR);
    const nextLow = new Float64Array(n), nextHigh = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      let a = Infinity, b = -Infinity;
      for (let i = k * FACTOR, end = Math.min(i + FACTOR, low.length); i < end; i++) {
        if (low[i] < a) a = low[i];
        if (high[i] > b) b = high[i];
      }
      nextLow[k] = a;
      nextHigh[k] = b;
    }
    size *= FACTOR;
    levels.push({ low: nextLow, high: nextHigh, size });
    low = nextLow;
    high = nextHigh;
  }
  pyramids.set(values, levels);
  return levels;
}

/** The first row at or after a time. */
export function lowerBound(time: Float64Array, t: number): number {
  let a = 0, b = time.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (time[m] < t) a = m + 1;
    else b = m;
  }
  return a;
}

/** Rows of a window, with one more on each side: the curve reaches the edges. */
function window(time: Float64Array, from: number, to: number): [number, number] {
  return [Math.max(0, lowerBound(time, from) - 1), Math.min(time.length, upperBound(time, to) + 1)];
}

function upperBound(time: Float64Array, t: number): number {
  let a = 0, b = time.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (time[m] <= t) a = m + 1;
    else b = m;
  }
  return a;
}

/** Least and largest value in a window. */
export function range(time: Float64Array, values: Float64Array, from: number, to: number): [number, number] {
  let low = Infinity, high = -Infinity;
  walk(time, values, from, to, 1000, (_, a, b) => {
    if (a < low) low = a;
    if (b > high) high = b;
  });
  return [low, high];
}

/** Hands out the points of a curve, or for each pixel its least and largest value; true in the second case. */
export function walk(
  time: Float64Array, values: Float64Array, from: number, to: number, pixels: number,
  piece: (t: number, low: number, high: number) => void,
): boolean {
  const [start, end] = window(time, from, to);
  const wanted = pixels;
  let level: Level | null = null;
  if (end - start > Math.max(PLAIN_MAX, wanted)) {
    for (const candidate of pyramid(values)) if ((end - start) / candidate.size >= wanted) level = candidate;
  }
  if (!level) {
    for (let i = start; i < end; i++) piece(time[i], values[i], values[i]);
    return false;
  }
  // Blocks of the same pixel are one piece.
  const { low, high, size } = level;
  const width = (to - from) / pixels;
  let begun = -Infinity, a = Infinity, b = -Infinity;
  for (let k = Math.floor(start / size); k * size < end; k++) {
    const t = time[Math.min(k * size, time.length - 1)];
    if (t - begun >= width) {
      if (a <= b) piece(begun, a, b);
      [begun, a, b] = [t, low[k], high[k]];
    } else {
      if (low[k] < a) a = low[k];
      if (high[k] > b) b = high[k];
    }
  }
  if (a <= b) piece(begun, a, b);
  return true;
}

/** The value at a time: the limits from the left and from the right. */
export function valueAt(time: Float64Array, values: Float64Array, t: number): [number, number] | null {
  const n = time.length;
  if (n === 0 || t < time[0] || t > time[n - 1]) return null;
  const first = lowerBound(time, t);
  if (time[first] === t) {
    let last = first;
    while (last + 1 < n && time[last + 1] === t) last++;
    return [values[first], values[last]];
  }
  const [a, b] = [first - 1, first];
  const share = (t - time[a]) / (time[b] - time[a]);
  const value = values[a] + share * (values[b] - values[a]);
  return [value, value];
}

/** Joins columns that came in parts. */
export function joined(parts: Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
