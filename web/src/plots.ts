// Curves stacked by unit on one axis of time, with the events of the run: zoom and cursor are shared.

import { Chart, MARGIN, type Trace, type View } from "./chart";
import { button, download, fill, h } from "./dom";
import { show } from "./numbers";
import { drawPhase } from "./phase";
import type { Run } from "./runs";
import type { EventRecord, Variable } from "./types";

/** Told apart by people who see colours differently; light and dark page have their own (style.css). */
const COLOURS = 8;
/** In the place of a unit: Boolean, Integer and enumeration. */
const LOGIC = "\u0000";

/** What a mark of an event is coloured by. */
const KINDS: Record<string, string> = { time: "--event-time", state: "--event-state", zeno: "--event-zeno", sliding: "--event-sliding" };

export interface PlotsHost {
  variable(name: string): Variable | undefined;
  /** To the line of an event's cause. */
  goTo(file: string, line: number): void;
  remove(name: string): void;
  /** Saves all as a page; where there is none, the button is not there. */
  share?(): void;
  cursorMoved(time: number | null): void;
}

export class Plots {
  readonly element: HTMLElement;
  private readonly stack = h("div", { class: "stack" });
  private readonly strip = h("canvas", { class: "strip", role: "img", "aria-label": "events over time" });
  private readonly tip = h("div", { class: "tip", hidden: true, role: "status" });
  private readonly empty = h("div", { class: "empty" });
  private readonly lines = h("div", { class: "cursor-line", hidden: true });
  private readonly phase = h("canvas", { class: "phase-plot", role: "img", "aria-label": "Curves over a variable", hidden: true });
  private readonly over = h("select", { "aria-label": "Horizontal axis", title: "Horizontal axis: time, or a variable (phase plot)" });
  private charts: { chart: Chart; names: string[]; legend: HTMLElement }[] = [];
  private names: string[] = [];
  private grouping = "none";
  private runs: Run[] = [];
  private view: View | null = null;
  private whole: View = { from: 0, to: 1 };
  cursor: number | null = null;
  /** The cursor stays where it was clicked. */
  private held = false;
  private frame = 0;
  /** Called after each picture. */
  onDrawn: () => void = () => {};

  constructor(private readonly host: PlotsHost) {
    this.over.addEventListener("change", () => this.later());
    const tools = h(
      "div",
      { class: "tools" },
      this.over,
      button("SVG", "Save the pictures as SVG", () => this.saveSvg()),
      button("PNG", "Save the pictures as PNG", () => void this.savePng()),
      button("CSV", "Save the rows of the curves as CSV", () => this.saveCsv()),
      host.share && button("HTML", "Save curves, text, events and diagram as one page", () => host.share?.()),
      button("Whole", "Show the whole run (key 0)", () => this.zoom(null)),
    );
    this.element = h("div", { class: "plots", tabindex: "0", role: "group", "aria-label": "Curves over time: arrow keys move the cursor, plus and minus zoom, 0 shows all, E goes to the next event" },
      this.strip, this.stack, this.phase, this.empty, this.lines, this.tip, tools);
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.later()).observe(this.element);
    this.listen();
  }

  colour(name: string): string {
    const index = this.names.indexOf(name);
    return getComputedStyle(this.element).getPropertyValue(`--curve-${(index < 0 ? 0 : index) % COLOURS}`).trim();
  }

  /** Shows these variables of these runs; the last run is the current one. */
  show(names: string[], runs: Run[]) {
    // Another model may have other units for the same names.
    const grouping = names.map((name) => `${name} ${this.unitOf(name)}`).join("\n");
    const changed = grouping !== this.grouping;
    this.grouping = grouping;
    this.names = names;
    this.runs = runs;
    const shown = runs.filter((run) => run.time.length > 0);
    this.whole = shown.length
      ? { from: Math.min(...shown.map((run) => run.time[0])), to: Math.max(...shown.map((run) => run.time[run.time.length - 1])) }
      : { from: 0, to: 1 };
    if (this.whole.from === this.whole.to) this.whole.to = this.whole.from + 1e-9;
    if (changed) this.arrange();
    this.later();
  }

  /** What stands on one axis; values that are no Real numbers stand by themselves. */
  private unitOf(name: string): string {
    const variable = this.host.variable(name);
    return variable && variable.type !== "Real" ? LOGIC : (variable?.unit ?? "");
  }

  setEmpty(...content: (Node | string)[]) {
    fill(this.empty, ...content);
  }

  private arrange() {
    const groups = new Map<string, string[]>();
    for (const name of this.names) {
      const unit = this.unitOf(name);
      groups.set(unit, [...(groups.get(unit) ?? []), name]);
    }
    const chosen = this.over.value;
    fill(this.over, ["time", ...this.names].map((name) => h("option", { value: name }, `over ${name}`)));
    this.over.value = this.names.includes(chosen) ? chosen : "time";
    const units = [...groups];
    this.charts = units.map(([unit, names], k) => {
      const chart = new Chart();
      chart.unit = unit === LOGIC ? "" : unit;
      chart.whole = unit === LOGIC;
      chart.hasAxis = k === units.length - 1;
      return { chart, names, legend: h("div", { class: "legend" }) };
    });
    fill(this.stack, ...this.charts.map(({ chart, legend }) => {
      const box = h("div", { class: "chart" }, legend, chart.canvas);
      chart.canvas.setAttribute("role", "img");
      return box;
    }));
  }

  /** Draws at the next frame. */
  later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  get current(): Run | null {
    return this.runs[this.runs.length - 1] ?? null;
  }

  get window(): View {
    return this.view ?? this.whole;
  }

  draw() {
    const isEmpty = this.names.length === 0 || this.runs.length === 0;
    const isPhase = !isEmpty && this.over.value !== "time" && this.over.value !== "";
    this.empty.hidden = !isEmpty;
    this.stack.hidden = isEmpty || isPhase;
    this.strip.hidden = isEmpty;
    this.phase.hidden = !isPhase;
    if (isEmpty) return;
    if (isPhase) this.drawPhase();
    const marks = this.markedEvents().map((event) => ({ time: event.time, colour: this.kindColour(event) }));
    for (const { chart, names } of this.charts) {
      chart.view = this.window;
      chart.marks = marks;
      chart.traces = names.flatMap((name) => this.runs.map((run) => this.trace(name, run)).filter((t): t is Trace => t !== null));
      chart.canvas.setAttribute("aria-label", `${names.join(", ")} over time`);
      chart.draw();
    }
    this.drawStrip();
    this.drawLegends();
    this.placeCursor();
    this.onDrawn();
  }

  private drawPhase() {
    const over = this.over.value;
    const style = getComputedStyle(this.element);
    const colours = { grid: style.getPropertyValue("--grid").trim(), text: style.getPropertyValue("--faint").trim() };
    drawPhase(this.phase, this.runs, over, this.names.filter((name) => name !== over), (name, run) => ({ ...this.look(run), colour: this.colour(name) }), this.window, this.cursor, colours);
  }

  private trace(name: string, run: Run): Trace | null {
    const found = run.trace(name);
    return found && { ...found, ...this.look(run), colour: this.colour(name) };
  }

  private look(run: Run): { alpha: number; width: number; dash: number[] } {
    return {
      current: { alpha: 1, width: 1.7, dash: [] as number[] },
      ghost: { alpha: 0.28, width: 1.4, dash: [] },
      pinned: { alpha: 0.85, width: 1.3, dash: [6, 4] },
      sweep: { alpha: 0.25 + 0.6 * run.shade, width: 1.2, dash: [] },
    }[run.role];
  }

  /** Events that somebody asks about: not the beginning and the end. */
  private markedEvents(): EventRecord[] {
    return (this.current?.events ?? []).filter((event) => event.kind !== "initial" && event.kind !== "terminal");
  }

  /** From when on which mode holds; empty if there is one only. */
  private modes(): { from: number; mode: number }[] {
    const out: { from: number; mode: number }[] = [];
    for (const event of this.current?.events ?? []) {
      if (event.kind !== "terminal" && out[out.length - 1]?.mode !== event.mode) out.push({ from: event.time, mode: event.mode });
    }
    return out.length > 1 ? out : [];
  }

  /** A lane below the marks of events: the mode that holds, by its number. */
  private drawModes(context: CanvasRenderingContext2D, w: number) {
    const modes = this.modes();
    const style = getComputedStyle(this.element);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    modes.forEach(({ from, mode }, k) => {
      const left = Math.max(MARGIN.left, this.px(from));
      const right = Math.min(w - MARGIN.right, this.px(modes[k + 1]?.from ?? this.whole.to));
      if (right <= left) return;
      context.fillStyle = style.getPropertyValue(`--curve-${mode % COLOURS}`).trim();
      context.globalAlpha = 0.22;
      context.fillRect(left, 15, Math.max(right - left - 0.5, 0.5), 12);
      context.globalAlpha = 1;
      if (right - left < 16) return;
      context.fillStyle = style.getPropertyValue("--text").trim();
      context.fillText(right - left > 60 ? `mode ${mode}` : String(mode), left + 4, 21.5);
    });
  }

  private kindColour(event: EventRecord): string {
    return getComputedStyle(this.element).getPropertyValue(KINDS[event.kind] ?? "--event-state").trim();
  }

  private drawStrip() {
    const { strip } = this;
    strip.style.height = this.modes().length ? "30px" : "";
    const w = strip.clientWidth;
    const scale = window.devicePixelRatio || 1;
    strip.width = Math.round(w * scale);
    strip.height = Math.round(strip.clientHeight * scale);
    const context = strip.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    this.drawModes(context, w);
    let last = -Infinity;
    for (const event of this.markedEvents()) {
      const px = this.px(event.time);
      if (px < MARGIN.left - 1 || px > w - MARGIN.right + 1 || px - last < 1.5) continue;
      last = px;
      context.fillStyle = this.kindColour(event);
      context.beginPath();
      context.moveTo(px, 13);
      context.lineTo(px - 4, 5);
      context.lineTo(px + 4, 5);
      context.fill();
    }
  }

  private px(time: number): number {
    const { from, to } = this.window;
    return MARGIN.left + ((time - from) / (to - from)) * (this.element.clientWidth - MARGIN.left - MARGIN.right);
  }

  private timeAt(px: number): number {
    const { from, to } = this.window;
    return from + ((px - MARGIN.left) / (this.element.clientWidth - MARGIN.left - MARGIN.right)) * (to - from);
  }

  private drawLegends() {
    for (const { names, legend, chart } of this.charts) {
      fill(legend, ...names.map((name) => {
        const variable = this.host.variable(name);
        return h("span", { class: "entry", title: variable?.description ?? "" },
          h("i", { style: `background:${this.colour(name)}` }), name,
          h("b", { "data-name": name }),
          button("×", `Remove ${name}`, () => this.host.remove(name), { class: "quiet", "aria-label": `Remove ${name}` }));
      }), chart.unit && h("span", { class: "unit" }, `in ${chart.unit}`));
    }
    this.writeValues();
  }

  private writeValues() {
    const run = this.current;
    for (const { legend } of this.charts) {
      for (const slot of legend.querySelectorAll<HTMLElement>("b")) {
        const name = slot.dataset.name ?? "";
        const limits = this.cursor === null || !run ? null : run.at(name, this.cursor);
        const text = !limits ? "" : limits[0] === limits[1] ? show(limits[1]) : `${show(limits[0])} → ${show(limits[1])}`;
        slot.textContent = text;
      }
    }
  }

  setCursor(time: number | null, held = false) {
    this.cursor = time;
    this.held = held;
    this.placeCursor();
    this.writeValues();
    if (!this.phase.hidden) this.drawPhase();
    this.host.cursorMoved(time);
  }

  private placeCursor() {
    const { cursor } = this;
    const px = cursor === null ? -1 : this.px(cursor);
    this.lines.hidden = !this.phase.hidden || px < MARGIN.left - 1 || px > this.element.clientWidth - MARGIN.right + 1;
    this.lines.style.transform = `translateX(${px}px)`;
    this.lines.classList.toggle("held", this.held);
  }

  zoom(view: View | null) {
    if (view) {
      const span = Math.max(view.to - view.from, 1e-12 * Math.max(Math.abs(view.from), Math.abs(view.to)), 1e-300);
      if (span >= this.whole.to - this.whole.from) view = null;
      else {
        const from = Math.min(Math.max(view.from, this.whole.from), this.whole.to - span);
        view = { from, to: from + span };
      }
    }
    this.view = view;
    this.later();
  }

  private zoomAround(time: number, factor: number) {
    const { from, to } = this.window;
    this.zoom({ from: time - (time - from) * factor, to: time + (to - time) * factor });
  }

  private listen() {
    let begin: { px: number; view: View; pan: boolean } | null = null;
    const box = h("div", { class: "selection", hidden: true });
    this.element.append(box);
    const left = () => this.element.getBoundingClientRect().left;
    const down = (event: PointerEvent) => {
      if (event.button !== 0 || (event.target as Element).tagName !== "CANVAS" || event.target === this.phase) return;
      begin = { px: event.clientX - left(), view: this.window, pan: event.shiftKey || event.pointerType === "touch" };
      if (event.pointerType !== "touch") (event.target as Element).setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
      const px = event.clientX - left();
      if (!begin) {
        const isChart = (event.target as Element).tagName === "CANVAS" && event.target !== this.phase;
        if (isChart && !this.held) this.setCursor(this.timeAt(px));
        this.hover(event, px);
        return;
      }
      if (begin.pan) {
        const perPixel = (begin.view.to - begin.view.from) / (this.element.clientWidth - MARGIN.left - MARGIN.right);
        const shift = (begin.px - px) * perPixel;
        this.zoom({ from: begin.view.from + shift, to: begin.view.to + shift });
        return;
      }
      const [a, b] = [Math.min(begin.px, px), Math.max(begin.px, px)];
      box.hidden = b - a < 4;
      box.style.left = `${a}px`;
      box.style.width = `${b - a}px`;
    };
    const up = (event: PointerEvent) => {
      if (!begin) return;
      const px = event.clientX - left();
      const [a, b] = [Math.min(begin.px, px), Math.max(begin.px, px)];
      if (b - a >= 4 && !begin.pan) this.zoom({ from: this.timeAt(a), to: this.timeAt(b) });
      else if (b - a < 4) this.click(event, px);
      box.hidden = true;
      begin = null;
    };
    this.element.addEventListener("pointerdown", down);
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("pointerup", up);
    this.element.addEventListener("pointercancel", () => (begin = null));
    this.element.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      if (!this.held && !begin) this.setCursor(null);
    });
    this.element.addEventListener("dblclick", () => this.zoom(null));
    this.element.addEventListener("wheel", (event) => {
      if ((event.target as Element).tagName !== "CANVAS" || !(event.ctrlKey || event.target !== this.strip)) return;
      event.preventDefault();
      const horizontal = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const { from, to } = this.window;
      if (horizontal) this.zoom({ from: from + event.deltaX * (to - from) * 0.001, to: to + event.deltaX * (to - from) * 0.001 });
      else this.zoomAround(this.timeAt(event.clientX - left()), Math.exp(event.deltaY * 0.0015));
    }, { passive: false });
  }

  private nearest(px: number, within: number): EventRecord | null {
    let best: EventRecord | null = null, distance = within;
    for (const event of this.markedEvents()) {
      const d = Math.abs(this.px(event.time) - px);
      if (d < distance) [best, distance] = [event, d];
    }
    return best;
  }

  private hover(event: PointerEvent, px: number) {
    const isCanvas = (event.target as Element).tagName === "CANVAS";
    const found = isCanvas ? this.nearest(px, event.target === this.strip ? 8 : 3) : null;
    this.tip.hidden = !found;
    this.element.style.cursor = found ? "pointer" : "";
    if (!found) return;
    fill(this.tip, describe(found));
    const width = this.element.clientWidth;
    this.tip.style.left = `${Math.min(px + 10, Math.max(0, width - 340))}px`;
    this.tip.style.top = `${event.clientY - this.element.getBoundingClientRect().top + 14}px`;
  }

  private click(event: PointerEvent, px: number) {
    const found = this.nearest(px, event.target === this.strip ? 8 : 3);
    if (found) {
      this.setCursor(found.time, true);
      const cause = found.cause.find((c) => c.line > 0);
      if (cause) this.host.goTo(cause.file, cause.line);
    } else this.setCursor(this.timeAt(px), !this.held);
  }

  private key(event: KeyboardEvent) {
    const { from, to } = this.window;
    const step = (to - from) / (event.shiftKey ? 20 : 200);
    const at = this.cursor ?? (from + to) / 2;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.setCursor(at - step, true),
      ArrowRight: () => this.setCursor(at + step, true),
      "+": () => this.zoomAround(at, 0.7),
      "=": () => this.zoomAround(at, 0.7),
      "-": () => this.zoomAround(at, 1 / 0.7),
      "0": () => this.zoom(null),
      Escape: () => this.setCursor(null),
      e: () => this.toEvent(at, 1),
      E: () => this.toEvent(at, -1),
      Enter: () => {
        const found = this.markedEvents().find((e) => e.time === this.cursor);
        const cause = found?.cause.find((c) => c.line > 0);
        if (cause) this.host.goTo(cause.file, cause.line);
      },
    };
    const action = event.ctrlKey || event.metaKey ? undefined : actions[event.key];
    if (!action || (event.target as Element).tagName === "BUTTON") return;
    event.preventDefault();
    action();
  }

  private toEvent(from: number, direction: 1 | -1) {
    const events = this.markedEvents();
    const next = direction > 0 ? events.find((e) => e.time > from) : events.filter((e) => e.time < from).pop();
    if (next) this.setCursor(next.time, true);
  }

  /** All pictures as one SVG. */
  svg(): string {
    const w = Math.max(480, this.element.clientWidth);
    const height = 220;
    let body = "", at = 26;
    for (const { chart, names } of this.charts) {
      let x = MARGIN.left;
      for (const name of names) {
        body += `<rect x="${x}" y="${at - 12}" width="10" height="3" fill="${this.colour(name)}"/><text x="${x + 14}" y="${at - 6}" fill="currentColor">${escape(name)}</text>`;
        x += 26 + 7 * name.length;
      }
      if (chart.unit) body += `<text x="${w - MARGIN.right}" y="${at - 6}" text-anchor="end" fill="currentColor">in ${escape(chart.unit)}</text>`;
      body += chart.svg(w, height, at);
      at += height + 26;
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${at}" width="${w}" height="${at}" font-family="system-ui, sans-serif" font-size="11" color="#555">\n${body}\n</svg>\n`;
  }

  private title(): string {
    return this.current?.result.class.split(".").pop() ?? "run";
  }

  private saveSvg() {
    download(`${this.title()}.svg`, this.svg(), "image/svg+xml");
  }

  private async savePng() {
    const scale = 2;
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svg())}`;
    await image.decode();
    const canvas = h("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(`${this.title()}.png`, blob, "image/png"));
  }

  private saveCsv() {
    const run = this.current;
    if (!run) return;
    const names = this.names.filter((name) => run.has(name));
    const lines = [["time", ...names].map((name) => `"${name.replaceAll('"', '""')}"`).join(",")];
    const columns = names.map((name) => run.columns.get(name) ?? run.constants.get(name) ?? NaN);
    for (let k = 0; k < run.time.length; k++) {
      lines.push([run.time[k], ...columns.map((c) => (typeof c === "number" ? c : c[k]))].join(","));
    }
    download(`${this.title()}.csv`, lines.join("\n") + "\n", "text/csv");
  }
}

export function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** What happened at an event, in a few lines. */
export function describe(event: EventRecord): HTMLElement {
  const changed = event.changed.slice(0, 6).map((c) => h("div", {}, `${c.variable}: ${show(c.before)} → ${show(c.after)}`));
  const impulses = event.impulses.slice(0, 4).map((i) => h("div", {}, `impulse of ${i.variable}: ${show(i.value)}`));
  const causes = event.cause.slice(0, 4).map((c) => h("div", { class: "cause" }, c.expression, c.line > 0 && h("small", {}, ` line ${c.line}`)));
  const more = event.changed.length - 6;
  return h("div", {}, h("strong", {}, `${event.kind} event at ${show(event.time, 8)} s`), ...causes, ...changed, more > 0 && h("div", {}, `and ${more} more`), ...impulses);
}
