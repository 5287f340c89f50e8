// The diagram of a class: components and connections, values of the run on hover, a double click goes inside.

import { button, fill, h } from "./dom";
import { show } from "./numbers";
import type { Run } from "./runs";
import type { Variable } from "./types";

interface Component { name: string; class: string; description: string; is_connector: boolean; has_icon: boolean }
interface View { class: string; svg: string; components: Component[] }

export interface DiagramHost {
  call<T = any>(method: string, params: object): Promise<T>;
  class(): string | null;
  run(): Run | null;
  /** Variables whose names begin so. */
  below(prefix: string): Variable[];
  /** The values at the cursor, fetched if need be. */
  values(names: string[]): Promise<Map<string, number | null>>;
  draw(name: string): void;
  openClass(name: string): void;
}

/** Values that a tip shows. */
const SHOWN_MAX = 14;
/** Boolean variables that say in which state a device is, and whether true means that it carries. */
const STATES: Record<string, boolean> = { off: false, on: true, closed: true, open: false, locked: true, stuck: true, conducting: true, active: true, fire: true, control: true };

export class Diagram {
  private readonly bar = h("div", { class: "row crumbs" });
  private readonly paper = h("div", { class: "paper", tabindex: "0", role: "group", "aria-label": "Diagram: plus and minus zoom, arrow keys move, Enter on a component goes inside" });
  private readonly tip = h("div", { class: "tip", hidden: true, role: "status" });
  readonly element = h("div", { class: "diagram" }, this.bar, this.paper, this.tip);
  /** From the class that is run to the component that is shown. */
  private path: { name: string; class: string }[] = [];
  private view: View | null = null;
  private box = { x: 0, y: 0, w: 200, h: 200 };
  private whole = { ...this.box };
  private hovered = "";
  private shownFor = "";

  constructor(private readonly host: DiagramHost) {
    this.listen();
  }

  /** For the class that is chosen now. */
  async open() {
    const name = this.host.class();
    if (!name) {
      this.path = [];
      this.shownFor = "";
      fill(this.bar);
      return fill(this.paper, h("p", { class: "hint" }, "Open a model to see its diagram."));
    }
    if (this.path[0]?.class !== name) this.path = [{ name: name.split(".").pop() ?? name, class: name }];
    await this.draw();
  }

  /** The text has changed. */
  refresh() {
    this.shownFor = "";
  }

  private get current() {
    return this.path[this.path.length - 1];
  }

  private get prefix(): string {
    return this.path.slice(1).map((part) => `${part.name}.`).join("");
  }

  private async draw() {
    const { current } = this;
    fill(this.bar, this.path.map((part, k) => [k > 0 && h("span", {}, "›"),
      button(part.name, `Diagram of ${part.class}`, () => {
        this.path = this.path.slice(0, k + 1);
        void this.draw();
      }, { class: "link" })]).flat(), h("small", {}, current.class));
    if (this.shownFor !== current.class) {
      const view = await this.host.call<View | null>("diagram", { class: current.class }).catch(() => null);
      if (this.current !== current) return;
      this.view = view;
      this.shownFor = current.class;
      this.place();
    }
    void this.colour();
  }

  private place() {
    const { view } = this;
    if (!view) return fill(this.paper, h("p", { class: "hint" }, "There is no such class."));
    const svg = document.importNode(new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement, true) as unknown as SVGSVGElement;
    if (!view.components.length && !svg.querySelector("path, text, image")) {
      return fill(this.paper, h("div", { class: "empty" }, h("h2", {}, "No diagram"), h("p", {}, "This class is written as equations: no component has a place in a diagram.")));
    }
    fill(this.paper);
    this.paper.append(svg);
    const { baseVal } = svg.viewBox;
    this.whole = { x: baseVal.x, y: baseVal.y, w: baseVal.width, h: baseVal.height };
    this.box = { ...this.whole };
    for (const group of svg.querySelectorAll<SVGGElement>("[data-component]")) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", `${group.dataset.component}, ${group.dataset.class}`);
      const box = group.getBBox();
      // All of a component can be hit, not its lines only.
      const hit = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [name, value] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height })) hit.setAttribute(name, String(value));
      hit.setAttribute("class", "hit");
      group.prepend(hit);
    }
  }

  private set(box: { x: number; y: number; w: number; h: number }) {
    this.box = box;
    this.paper.querySelector("svg")?.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  }

  private zoom(factor: number, at?: { x: number; y: number }) {
    const { x, y, w, h: high } = this.box;
    const centre = at ?? { x: x + w / 2, y: y + high / 2 };
    const size = Math.min(Math.max(w * factor, this.whole.w / 100), this.whole.w * 3) / w;
    this.set({ x: centre.x - (centre.x - x) * size, y: centre.y - (centre.y - y) * size, w: w * size, h: high * size });
  }

  private inPicture(event: PointerEvent | WheelEvent): { x: number; y: number } {
    const svg = this.paper.querySelector("svg") as SVGSVGElement | null;
    const matrix = svg?.getScreenCTM()?.inverse();
    return matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix) : { x: 0, y: 0 };
  }

  private component(target: EventTarget | null): Component | null {
    const name = (target as Element | null)?.closest<SVGGElement>("[data-component]")?.dataset.component;
    return this.view?.components.find((c) => c.name === name) ?? null;
  }

  private inside(component: Component) {
    this.tip.hidden = true;
    this.path.push({ name: component.name, class: component.class });
    void this.draw();
  }

  private listen() {
    const { paper } = this;
    let begin: { x: number; y: number; box: { x: number; y: number; w: number; h: number }; scale: number } | null = null;
    paper.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0015), this.inPicture(event));
    }, { passive: false });
    paper.addEventListener("pointerdown", (event) => {
      const svg = paper.querySelector("svg") as SVGSVGElement | null;
      const scale = svg?.getScreenCTM()?.a;
      if (scale) begin = { x: event.clientX, y: event.clientY, box: this.box, scale };
    });
    paper.addEventListener("pointermove", (event) => {
      if (begin && event.buttons & 1) {
        const { box, scale } = begin;
        this.set({ ...box, x: box.x - (event.clientX - begin.x) / scale, y: box.y - (event.clientY - begin.y) / scale });
        return;
      }
      void this.hover(event);
    });
    paper.addEventListener("pointerup", () => (begin = null));
    paper.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.hovered = "";
    });
    paper.addEventListener("dblclick", (event) => {
      const component = this.component(event.target);
      if (component) this.inside(component);
      else this.set({ ...this.whole });
    });
    paper.addEventListener("keydown", (event) => {
      const component = this.component(event.target);
      const step = this.box.w / 12;
      const move = (x: number, y: number) => this.set({ ...this.box, x: this.box.x + x, y: this.box.y + y });
      const actions: Record<string, () => void> = {
        "+": () => this.zoom(0.8), "-": () => this.zoom(1.25), "0": () => this.set({ ...this.whole }),
        ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -step), ArrowDown: () => move(0, step),
        Enter: () => component && this.inside(component),
        Backspace: () => this.path.length > 1 && (this.path.pop(), void this.draw()),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  /** The component under the pointer: what it is, and its values at the cursor. */
  private async hover(event: PointerEvent) {
    const component = this.component(event.target);
    const connector = (event.target as Element).closest<SVGGElement>("[data-connector]")?.dataset.connector;
    const box = this.element.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX - box.left + 14, Math.max(0, box.width - 320))}px`;
    const below = event.clientY - box.top < box.height / 2;
    this.tip.style.top = below ? `${event.clientY - box.top + 14}px` : "";
    this.tip.style.bottom = below ? "" : `${box.bottom - event.clientY + 14}px`;
    const key = component ? `${component.name}.${connector ?? ""}` : "";
    this.tip.hidden = !component;
    if (!component || key === this.hovered) return;
    this.hovered = key;
    const prefix = `${this.prefix}${component.name}.${connector ? `${connector}.` : ""}`;
    const names = this.host.below(prefix).filter((v) => v.type !== "String" && !v.name.startsWith("der("));
    // What moves first, and of that what is near: its own variables before those of its parts.
    const depth = (name: string) => name.slice(prefix.length).split(".").length;
    const rank = (v: Variable) => 100 * Number(v.kind === "parameter" || v.kind === "constant") + depth(v.name);
    names.sort((a, b) => rank(a) - rank(b));
    const own = names.slice(0, SHOWN_MAX);
    const head = [h("strong", {}, connector ? `${component.name}.${connector}` : component.name), h("div", { class: "hint" }, component.class), component.description && h("div", {}, component.description)];
    fill(this.tip, ...head);
    const values = await this.host.values(own.map((v) => v.name));
    if (this.hovered !== key) return;
    fill(this.tip, ...head, h("table", {}, own.map((v) => h("tr", {}, h("td", {}, v.name.slice(prefix.length)), h("td", {}, show(values.get(v.name)), v.unit && ` ${v.unit}`)))),
      names.length > own.length && h("small", {}, `and ${names.length - own.length} more`));
  }

  /** Devices that carry, slip or are locked at the time of the cursor. */
  async colour() {
    const { view, prefix } = this;
    if (!view || !this.host.run()) return;
    const devices: { name: string; variable: string; carries: boolean }[] = [];
    for (const { name } of view.components) {
      for (const v of this.host.below(`${prefix}${name}.`)) {
        const last = v.name.slice(prefix.length + name.length + 1);
        if (v.type === "Boolean" && last in STATES) devices.push({ name, variable: v.name, carries: STATES[last] });
      }
    }
    if (!devices.length) return;
    const values = await this.host.values(devices.map((d) => d.variable));
    for (const { name, variable, carries } of devices) {
      const value = values.get(variable);
      const group = this.paper.querySelector(`[data-component="${CSS.escape(name)}"]`);
      group?.classList.toggle("carries", value !== null && value !== undefined && (value !== 0) === carries);
    }
  }
}
