// Sliders for parameters and start values: the run follows while they move, the run before stays as a ghost.

import { button, fill, h } from "./dom";
import { show } from "./numbers";
import type { Scalar, Variable } from "./types";
import type { Settings } from "./runs";

export interface PlayHost {
  variable(name: string): Variable | undefined;
  /** Runs with these settings; `final`: the slider was let go. */
  changed(settings: Settings, final: boolean): void;
  pin(): void;
  sweep(name: string, from: number, to: number): void;
  clear(): void;
}

const STEPS = 200;

export class Play {
  readonly element = h("section", { class: "play", "aria-label": "Sliders" });
  names: string[] = [];
  settings: Settings = new Map();
  private past: Settings[] = [];
  private future: Settings[] = [];
  /** The settings before the slider was touched. */
  private before: Settings | null = null;

  constructor(private readonly host: PlayHost) {}

  has(name: string): boolean {
    return this.names.includes(name);
  }

  toggle(name: string) {
    if (this.has(name)) {
      this.names = this.names.filter((known) => known !== name);
      if (this.settings.has(name)) {
        const settings = new Map(this.settings);
        settings.delete(name);
        this.commit(settings);
      }
    } else this.names.push(name);
    this.draw();
  }

  /** For another model. */
  reset(names: string[]) {
    this.names = names;
    this.settings = new Map();
    this.past = [];
    this.future = [];
    this.draw();
  }

  undo() {
    const last = this.past.pop();
    if (!last) return;
    this.future.push(this.settings);
    this.take(last);
  }

  redo() {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(this.settings);
    this.take(next);
  }

  private take(settings: Settings) {
    this.settings = settings;
    this.draw();
    this.host.changed(settings, true);
  }

  private commit(settings: Settings) {
    this.past.push(this.before ?? this.settings);
    this.before = null;
    this.future = [];
    this.settings = settings;
    this.host.changed(settings, true);
    this.drawTools();
  }

  private readonly tools = h("div", { class: "row tools" });

  draw() {
    this.element.hidden = this.names.length === 0;
    this.drawTools();
    // While the model is not known there is nothing to move.
    const known = this.names.some((name) => this.host.variable(name));
    fill(this.element, this.tools, known && h("div", { class: "sliders" }, this.names.map((name) => this.row(name))));
  }

  private drawTools() {
    fill(this.tools,
      h("h2", {}, "Play"),
      button("Undo", "Take the last setting back (Ctrl-Z outside of the text)", () => this.undo(), { disabled: !this.past.length }),
      button("Redo", "Set it again", () => this.redo(), { disabled: !this.future.length }),
      button("Pin", "Keep this run beside the next ones (key P)", () => this.host.pin()),
      button("Clear", "Take pinned and swept runs away", () => this.host.clear()),
      this.settings.size > 0 && button("Reset", "All values as in the text", () => {
        this.commit(new Map());
        this.draw();
      }));
  }

  private row(name: string): HTMLElement {
    const v = this.host.variable(name);
    const label = h("label", { for: `slider-${name}`, title: v?.description ?? "" }, name);
    const remove = button("×", `Remove the slider of ${name}`, () => this.toggle(name), { class: "quiet", "aria-label": `Remove the slider of ${name}` });
    if (!v) return h("div", { class: "slider" }, label, h("span", { class: "hint" }, "not in this model"), h("span"), h("span"), remove);
    const value = this.settings.get(name) ?? v.value ?? 0;
    if (v.type === "Boolean" || v.type === "enumeration") return this.choice(v, value, label, remove);
    return this.number(v, Number(value), label, remove);
  }

  private choice(v: Variable, value: Scalar, label: HTMLElement, remove: HTMLElement): HTMLElement {
    const literals = v.type === "Boolean" ? ["false", "true"] : v.literals;
    const select = h("select", { id: `slider-${v.name}` }, literals.map((literal) => h("option", { value: literal }, literal)));
    select.value = String(value);
    select.addEventListener("change", () => {
      const chosen = v.type === "Boolean" ? select.value === "true" : select.value;
      this.commit(new Map(this.settings).set(v.name, chosen));
    });
    return h("div", { class: "slider" }, label, select, h("span"), h("span"), remove);
  }

  private number(v: Variable, value: number, label: HTMLElement, remove: HTMLElement): HTMLElement {
    const [low, high] = bounds(v, Number(v.value ?? 0));
    const whole = v.type === "Integer";
    const step = whole ? 1 : (high - low) / STEPS;
    const slider = h("input", { id: `slider-${v.name}`, type: "range", min: low, max: high, step: whole ? 1 : "any" });
    slider.value = String(value);
    const exact = h("input", { type: "text", inputmode: "decimal", class: "exact", "aria-label": `Value of ${v.name}` });
    exact.value = String(Number(value.toPrecision(6)));
    const set = (x: number) => new Map(this.settings).set(v.name, x);
    slider.addEventListener("input", () => {
      this.before ??= this.settings;
      const x = whole ? Math.round(slider.valueAsNumber) : round(slider.valueAsNumber, step);
      exact.value = String(x);
      this.settings = set(x);
      this.host.changed(this.settings, false);
    });
    slider.addEventListener("change", () => this.commit(this.settings));
    slider.addEventListener("keydown", (event) => {
      const direction = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
      if (!direction) return;
      event.preventDefault();
      slider.value = String(slider.valueAsNumber + direction * step);
      slider.dispatchEvent(new Event("input"));
      slider.dispatchEvent(new Event("change"));
    });
    exact.addEventListener("change", () => {
      const x = Number(exact.value.replace(",", "."));
      if (!Number.isFinite(x)) {
        exact.value = String(this.settings.get(v.name) ?? v.value);
        return;
      }
      slider.value = String(x);
      this.commit(set(whole ? Math.round(x) : x));
    });
    const sweep = this.sweeper(v, slider, low, high);
    return h("div", { class: "slider" }, label, h("div", { class: "track" }, slider, sweep.band), h("div", { class: "number" }, exact, h("small", {}, v.unit)), sweep.button, remove);
  }

  /** A sweep by dragging a range with Shift, or over all of it by the button. */
  private sweeper(v: Variable, slider: HTMLInputElement, low: number, high: number) {
    const band = h("div", { class: "band", hidden: true });
    let start: number | null = null;
    const at = (event: PointerEvent) => {
      const box = slider.getBoundingClientRect();
      return low + Math.min(1, Math.max(0, (event.clientX - box.left - 8) / (box.width - 16))) * (high - low);
    };
    const place = (a: number, b: number) => {
      const share = (x: number) => (100 * (x - low)) / (high - low);
      band.hidden = false;
      band.style.left = `${share(Math.min(a, b))}%`;
      band.style.width = `${share(Math.max(a, b)) - share(Math.min(a, b))}%`;
    };
    slider.addEventListener("pointerdown", (event) => {
      if (!event.shiftKey) return;
      event.preventDefault();
      start = at(event);
      slider.setPointerCapture(event.pointerId);
    });
    slider.addEventListener("pointermove", (event) => {
      if (start === null) return;
      event.preventDefault();
      place(start, at(event));
    });
    slider.addEventListener("pointerup", (event) => {
      if (start === null) return;
      event.preventDefault();
      const end = at(event);
      if (end !== start) this.host.sweep(v.name, Math.min(start, end), Math.max(start, end));
      start = null;
    });
    const all = button("⋮⋮⋮", `Runs with ${show(low, 3)} to ${show(high, 3)} (or drag a range with Shift)`, () => {
      place(low, high);
      this.host.sweep(v.name, low, high);
    }, { class: "quiet", "aria-label": `Sweep ${v.name}` });
    return { band, button: all };
  }
}

function round(x: number, step: number): number {
  return Number(x.toPrecision(Math.max(3, Math.ceil(Math.log10(Math.abs(x) / step || 1)) + 1)));
}

/** From `min` to `max`; where they are far or not there, around the value. */
function bounds(v: Variable, value: number): [number, number] {
  const size = Math.abs(value) || 1;
  const isNear = (x: number | null): x is number => x !== null && Math.abs(x) <= 1000 * size;
  let low = isNear(v.min) ? v.min : value < 0 ? 3 * value : value === 0 ? -1 : 0;
  let high = isNear(v.max) ? v.max : value > 0 ? 3 * value : value === 0 ? 1 : 0;
  if (v.type === "Integer") [low, high] = [Math.floor(low), Math.ceil(high)];
  return low < high ? [low, high] : [value - size, value + size];
}
