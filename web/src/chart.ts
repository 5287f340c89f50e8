// One picture of curves over time, on a canvas. Zoom and cursor belong to the stack of pictures around it.
//
// Own code and not a library of charts, because runs have time grids of their own, a time has two values at an event, and a curve of a million rows is drawn from its pyramid.

import { range, walk } from "./series";
import { show, ticks } from "./numbers";

export interface Trace {
  time: Float64Array;
  values: Float64Array;
  colour: string;
  alpha: number;
  width: number;
  dash: number[];
}

export interface Mark { time: number; colour: string }

export interface View { from: number; to: number }

export const MARGIN = { left: 64, right: 14, top: 8, bottom: 8 };
export const AXIS_HEIGHT = 26;
/** Two rows of equal time are joined by dots if there are few of them. */
const JUMPS_SHOWN_MAX = 80;

export interface Pen {
  line(points: number[], trace: Trace): void;
  jump(x: number, y0: number, y1: number, trace: Trace): void;
  /** A closed outline to be filled: what a curve covers that moves within a pixel. */
  band(outline: number[], trace: Trace): void;
}

/** Height range of curves in a window, with some air. */
export function heights(traces: Trace[], view: View): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const { time, values } of traces) {
    const [a, b] = range(time, values, view.from, view.to);
    if (a < low) low = a;
    if (b > high) high = b;
  }
  if (!(low <= high)) return [0, 1];
  const air = low === high ? Math.max(Math.abs(low) * 0.1, 1e-12) || 1 : (high - low) * 0.06;
  return low === 0 && high === 0 ? [-1, 1] : [low - air, high + air];
}

/** Hands the pieces of a curve to a pen: polylines, and jumps between two rows of equal time. */
export function trace(t: Trace, x: (time: number) => number, y: (value: number) => number, view: View, pixels: number, pen: Pen) {
  let points: number[] = [];
  const jumps: [number, number, number][] = [];
  let last = NaN, lastHigh = NaN;
  const end = () => {
    if (points.length >= 4) pen.line(points, t);
    points = [];
  };
  const tops: number[] = [], bottoms: number[] = [];
  const dense = walk(t.time, t.values, view.from, view.to, pixels, (time, low, high) => {
    const px = x(time);
    tops.push(px, y(high));
    bottoms.push(px, y(low));
    if (Number.isNaN(low)) return end();
    // Less than a pixel is no jump to the eye.
    if (time === last && Math.abs(y(low) - y(lastHigh)) >= 1) {
      jumps.push([px, y(lastHigh), y(low)]);
      end();
    }
    points.push(px, y(low));
    last = time;
    lastHigh = low;
  });
  if (dense) return pen.band(outlined(tops, bottoms, t.width), t);
  end();
  const solid = jumps.length > JUMPS_SHOWN_MAX;
  for (const [px, y0, y1] of jumps) solid ? pen.line([px, y0, px, y1], t) : pen.jump(px, y0, y1, t);
}

/** Along the upper edge and back along the lower one, nowhere thinner than the line. */
function outlined(tops: number[], bottoms: number[], width: number): number[] {
  const out: number[] = [];
  for (let k = 0; k < tops.length; k += 2) {
    // A piece reaches to the edges of its neighbours, so that steep curves have no gaps.
    const before = k > 0 ? bottoms[k - 1] : tops[k + 1], after = k + 3 < bottoms.length ? bottoms[k + 3] : tops[k + 1];
    out.push(tops[k], Math.min(tops[k + 1], before, after) - width / 2);
  }
  for (let k = bottoms.length - 2; k >= 0; k -= 2) {
    const before = k > 0 ? tops[k - 1] : bottoms[k + 1], after = k + 3 < tops.length ? tops[k + 3] : bottoms[k + 1];
    out.push(bottoms[k], Math.max(bottoms[k + 1], before, after) + width / 2);
  }
  return out;
}

function colourOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

export class Chart {
  readonly canvas = document.createElement("canvas");
  traces: Trace[] = [];
  marks: Mark[] = [];
  unit = "";
  /** Values are whole numbers. */
  whole = false;
  /** Time is written below the last picture of a stack. */
  hasAxis = false;
  private low = 0;
  private high = 1;
  view: View = { from: 0, to: 1 };

  get width() {
    return this.canvas.clientWidth;
  }

  x = (time: number) => MARGIN.left + ((time - this.view.from) / (this.view.to - this.view.from)) * (this.width - MARGIN.left - MARGIN.right);
  timeAt = (px: number) => this.view.from + ((px - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right)) * (this.view.to - this.view.from);

  draw() {
    const { canvas } = this;
    const [w, hgt] = [canvas.clientWidth, canvas.clientHeight];
    if (w === 0 || hgt === 0) return;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(hgt * scale)) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(hgt * scale);
    }
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, w, hgt);
    const bottom = hgt - (this.hasAxis ? AXIS_HEIGHT : MARGIN.bottom);
    [this.low, this.high] = heights(this.traces, this.view);
    const y = (value: number) => bottom - ((value - this.low) / (this.high - this.low)) * (bottom - MARGIN.top);
    this.grid(context, w, bottom, y);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, w - MARGIN.left - MARGIN.right, bottom + 1);
    context.clip();
    this.eventMarks(context, bottom);
    context.lineJoin = "round";
    const pen = canvasPen(context);
    for (const t of this.traces) trace(t, this.x, y, this.view, w, pen);
    context.restore();
  }

  private grid(context: CanvasRenderingContext2D, w: number, bottom: number, y: (value: number) => number) {
    const [line, text] = [colourOf(this.canvas, "--grid"), colourOf(this.canvas, "--faint")];
    context.lineWidth = 1;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = text;
    context.strokeStyle = line;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const vertical = this.verticalTicks(this.low, this.high, bottom - MARGIN.top);
    for (const at of vertical.at) {
      const py = Math.round(y(at)) + 0.5;
      stroke(context, MARGIN.left, py, w - MARGIN.right, py);
      context.fillText(vertical.label(at), MARGIN.left - 8, py);
    }
    const horizontal = ticks(this.view.from, this.view.to, Math.max(2, (w - MARGIN.left) / 90));
    context.textAlign = "center";
    for (const at of horizontal.at) {
      const px = Math.round(this.x(at)) + 0.5;
      stroke(context, px, MARGIN.top, px, bottom);
      if (this.hasAxis) context.fillText(horizontal.label(at), px, bottom + 13);
    }
    if (this.hasAxis) {
      context.textAlign = "left";
      context.fillText("time in s", 8, bottom + 13);
    }
  }

  private verticalTicks(low: number, high: number, height: number) {
    const wanted = Math.max(2, height / 36);
    return ticks(low, high, this.whole ? Math.min(wanted, Math.max(1, Math.floor(high - low))) : wanted);
  }

  private eventMarks(context: CanvasRenderingContext2D, bottom: number) {
    let last = -Infinity;
    for (const { time, colour } of this.marks) {
      if (time < this.view.from || time > this.view.to) continue;
      const px = Math.round(this.x(time)) + 0.5;
      if (px - last < 2) continue;
      last = px;
      context.strokeStyle = colour;
      context.globalAlpha = 0.28;
      context.setLineDash([2, 3]);
      stroke(context, px, MARGIN.top, px, bottom);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** The picture as SVG, with the same pieces. */
  svg(w: number, height: number, offset: number): string {
    const [x, y0] = [(t: number) => MARGIN.left + ((t - this.view.from) / (this.view.to - this.view.from)) * (w - MARGIN.left - MARGIN.right), offset + MARGIN.top];
    const bottom = offset + height - (this.hasAxis ? AXIS_HEIGHT : MARGIN.bottom);
    const [low, high] = heights(this.traces, this.view);
    const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - y0);
    const out: string[] = [];
    const text = colourOf(this.canvas, "--faint"), line = colourOf(this.canvas, "--grid");
    const vertical = this.verticalTicks(low, high, bottom - y0);
    for (const at of vertical.at) {
      out.push(`<path d="M${MARGIN.left} ${y(at).toFixed(1)}H${w - MARGIN.right}" stroke="${line}"/>`);
      out.push(`<text x="${MARGIN.left - 8}" y="${(y(at) + 4).toFixed(1)}" text-anchor="end" fill="${text}">${vertical.label(at)}</text>`);
    }
    const horizontal = ticks(this.view.from, this.view.to, Math.max(2, (w - MARGIN.left) / 90));
    for (const at of horizontal.at) {
      out.push(`<path d="M${x(at).toFixed(1)} ${y0}V${bottom}" stroke="${line}"/>`);
      if (this.hasAxis) out.push(`<text x="${x(at).toFixed(1)}" y="${bottom + 17}" text-anchor="middle" fill="${text}">${horizontal.label(at)}</text>`);
    }
    const path = (d: string, t: Trace, dash = t.dash) =>
      out.push(`<path d="${d}" fill="none" stroke="${t.colour}" stroke-opacity="${t.alpha}" stroke-width="${t.width}" stroke-linejoin="round"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
    const pen: Pen = {
      line: (p, t) => path(`M${pairs(p)}`, t),
      band: (p, t) => out.push(`<path d="M${pairs(p)}Z" fill="${t.colour}" fill-opacity="${t.alpha}"/>`),
      jump: (px, a, b, t) => path(`M${px.toFixed(2)} ${a.toFixed(2)}V${b.toFixed(2)}`, t, [1, 3]),
    };
    for (const t of this.traces) trace(t, x, y, this.view, w, pen);
    return out.join("\n");
  }
}

function pairs(points: number[]): string {
  let out = "";
  for (let k = 0; k < points.length; k += 2) out += `${k ? "L" : ""}${points[k].toFixed(2)} ${points[k + 1].toFixed(2)}`;
  return out;
}

function stroke(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function canvasPen(context: CanvasRenderingContext2D): Pen {
  const set = (t: Trace, dash: number[]) => {
    context.strokeStyle = t.colour;
    context.globalAlpha = t.alpha;
    context.lineWidth = t.width;
    context.setLineDash(dash);
  };
  return {
    line(points, t) {
      set(t, t.dash);
      context.lineJoin = points.length > 4000 ? "bevel" : "round";
      context.beginPath();
      context.moveTo(points[0], points[1]);
      for (let k = 2; k < points.length; k += 2) context.lineTo(points[k], points[k + 1]);
      context.stroke();
    },
    band(outline, t) {
      context.fillStyle = t.colour;
      context.globalAlpha = t.alpha;
      context.beginPath();
      context.moveTo(outline[0], outline[1]);
      for (let k = 2; k < outline.length; k += 2) context.lineTo(outline[k], outline[k + 1]);
      context.fill();
    },
    jump(x, y0, y1, t) {
      set(t, [1, 3]);
      stroke(context, x, y0, x, y1);
      context.setLineDash([]);
      context.fillStyle = t.colour;
      for (const at of [y0, y1]) {
        context.beginPath();
        context.arc(x, at, 2.2, 0, 7);
        context.fill();
      }
    },
  };
}

export { show };
