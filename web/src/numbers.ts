// Numbers as people read them, and the marks of axes.

/** A number in few characters, with `digits` that count. */
export function show(x: number | null | undefined, digits = 5): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 1) : x.toPrecision(digits);
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return (exponent ? `${short}e${Number(exponent)}` : short).replace("-", "−");
}

/** Marks of an axis: their distance is 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, count: number): { at: number[]; label: (x: number) => string } {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999) ?? rough;
  const at: number[] = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = first; k * step <= high + 1e-9 * step && at.length < 100; k++) at.push(k * step);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const large = Math.max(Math.abs(low), Math.abs(high));
  const scientific = large >= 1e6 || (large < 1e-3 && large > 0);
  const digits = Math.max(0, Math.floor(Math.log10(large || 1)) - Math.floor(Math.log10(step) + 1e-9));
  const label = (x: number) => {
    if (Math.abs(x) < step * 1e-6) return "0";
    const text = scientific ? x.toExponential(Math.min(digits, 12)).replace("e+", "e") : x.toFixed(Math.min(decimals, 12));
    return text.replace("-", "−");
  };
  return { at, label };
}
