// Curves over another variable than time: a phase plot, on a canvas of its own.

import { AXIS_HEIGHT, MARGIN } from "./chart";
import { ticks } from "./numbers";
import type { Run } from "./runs";

/** Points of a curve that are drawn; of more, every so many. */
const POINTS_MAX = 50_000;

export interface PhaseLook { colour: string; alpha: number; width: number; dash: number[] }

/** Draws `names` of each run over `over`, in the window of time; marks where the cursor is. */
export function drawPhase(
  canvas: HTMLCanvasElement, runs: Run[], over: string, names: string[], look: (name: string, run: Run) => PhaseLook,
  window_: { from: number; to: number }, cursor: number | null, colours: { grid: string; text: string },
) {
  const [w, height] = [canvas.clientWidth, canvas.clientHeight];
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  if (!context || !w || !height) return;
  context.scale(scale, scale);
  const curves = runs.flatMap((run) => names.map((name) => ({ run, name, points: points(run, over, name, window_) }))).filter((c) => c.points.length >= 4);
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { points: p } of curves) {
    for (let k = 0; k < p.length; k += 2) {
      if (p[k] < x0) x0 = p[k];
      if (p[k] > x1) x1 = p[k];
      if (p[k + 1] < y0) y0 = p[k + 1];
      if (p[k + 1] > y1) y1 = p[k + 1];
    }
  }
  if (!(x0 <= x1)) return;
  const air = (a: number, b: number) => (b - a) * 0.05 || Math.abs(a) * 0.1 || 1;
  [x0, x1, y0, y1] = [x0 - air(x0, x1), x1 + air(x0, x1), y0 - air(y0, y1), y1 + air(y0, y1)];
  const bottom = height - AXIS_HEIGHT;
  const x = (value: number) => MARGIN.left + ((value - x0) / (x1 - x0)) * (w - MARGIN.left - MARGIN.right);
  const y = (value: number) => bottom - ((value - y0) / (y1 - y0)) * (bottom - MARGIN.top);
  grid(context, { w, bottom, x, y, horizontal: ticks(x0, x1, Math.max(2, w / 100)), vertical: ticks(y0, y1, Math.max(2, bottom / 42)) }, colours);
  context.lineJoin = "round";
  for (const { run, name, points: p } of curves) {
    const { colour, alpha, width, dash } = look(name, run);
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x(p[0]), y(p[1]));
    for (let k = 2; k < p.length; k += 2) context.lineTo(x(p[k]), y(p[k + 1]));
    context.stroke();
    const [a, b] = cursor === null ? [null, null] : [run.at(over, cursor), run.at(name, cursor)];
    if (!a || !b) continue;
    context.setLineDash([]);
    context.beginPath();
    context.arc(x(a[1]), y(b[1]), 4.5, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

function points(run: Run, over: string, name: string, { from, to }: { from: number; to: number }): number[] {
  const [a, b] = [run.columns.get(over), run.columns.get(name)];
  const constant = run.constants.get(name);
  if (!a || (!b && constant === undefined)) return [];
  const out: number[] = [];
  const stride = Math.ceil(run.time.length / POINTS_MAX);
  for (let k = 0; k < run.time.length; k += stride) {
    if (run.time[k] >= from && run.time[k] <= to) out.push(a[k], b ? b[k] : (constant ?? 0));
  }
  return out;
}

interface Axes {
  w: number; bottom: number; x: (value: number) => number; y: (value: number) => number;
  horizontal: ReturnType<typeof ticks>; vertical: ReturnType<typeof ticks>;
}

function grid(context: CanvasRenderingContext2D, { w, bottom, x, y, horizontal, vertical }: Axes, colours: { grid: string; text: string }) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colours.text;
  context.strokeStyle = colours.grid;
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.beginPath();
  for (const at of vertical.at) {
    context.moveTo(MARGIN.left, y(at));
    context.lineTo(w - MARGIN.right, y(at));
    context.fillText(vertical.label(at), MARGIN.left - 8, y(at));
  }
  context.textAlign = "center";
  for (const at of horizontal.at) {
    context.moveTo(x(at), MARGIN.top);
    context.lineTo(x(at), bottom);
    context.fillText(horizontal.label(at), x(at), bottom + 13);
  }
  context.stroke();
}
