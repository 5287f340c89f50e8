// What the compiler and the run know: equations, structure, modes, events, steps, and why a variable has its value.

import { button, fill, h } from "./dom";
import { show } from "./numbers";
import { describe } from "./plots";
import type { Run } from "./runs";

export interface UnderstandHost {
  call<T = any>(method: string, params: object): Promise<T>;
  class(): string | null;
  run(): Run | null;
  cursor(): number | null;
  /** At the cursor, or at the end. */
  values(names: string[]): Promise<Map<string, number | null>>;
  goTo(file: string, line: number): void;
  setCursor(time: number): void;
  draw(name: string): void;
  names(): string[];
}

type Page = "equations" | "structure" | "modes" | "events" | "steps" | "why";
const PAGES: [Page, string, string][] = [
  ["equations", "Equations", "The flat model"],
  ["structure", "Structure", "Blocks in the order of evaluation, incidence as written and sorted"],
  ["modes", "Modes", "Which equations hold when"],
  ["events", "Events", "What happened when"],
  ["steps", "Steps", "Sizes of the integrator's steps"],
  ["why", "Why", "The equations that determine a variable"],
];
/** Rows of a table that are written out. */
const ROWS_MAX = 500;

export class Understand {
  private page: Page = "events";
  private readonly bar = h("div", { class: "subtabs", role: "tablist", "aria-label": "What is shown" });
  private readonly body = h("div", { class: "understood", tabindex: "0" });
  readonly element = h("div", { class: "understand" }, this.bar, this.body);
  private asked = 0;
  private whyName: string | null = null;

  constructor(private readonly host: UnderstandHost) {}

  open(page: Page) {
    this.page = page;
    this.draw();
  }

  why(name: string) {
    this.whyName = name;
    this.open("why");
  }

  draw() {
    fill(this.bar, PAGES.map(([page, label, title]) =>
      h("button", { type: "button", role: "tab", title, "aria-selected": page === this.page ? "true" : "false", onclick: () => this.open(page) }, label)));
    const pages: Record<Page, () => Promise<void> | void> = {
      equations: () => this.equations(), structure: () => this.structure(), modes: () => this.modes(),
      events: () => this.events(), steps: () => this.steps(), why: () => this.whyPage(),
    };
    void pages[this.page]();
  }

  private hint(...content: (Node | string)[]) {
    fill(this.body, h("p", { class: "hint" }, ...content));
  }

  /** The answer to a question, unless another one was asked since. */
  private async ask<T>(method: string, params: object, waiting: string): Promise<T | null> {
    const asked = ++this.asked;
    this.hint(waiting);
    try {
      const answer = await this.host.call<T>(method, params);
      return asked === this.asked ? answer : null;
    } catch (error) {
      if (asked === this.asked) this.hint(String((error as Error).message));
      return null;
    }
  }

  private async equations() {
    const name = this.host.class();
    if (!name) return this.hint("Open a model to see its equations.");
    const text = await this.ask<string>("flat", { class: name }, "Flattening…");
    if (text === null) return;
    const lines = text.split("\n");
    const search = h("input", { type: "search", placeholder: "Search in the flat model", "aria-label": "Search in the flat model" });
    const list = h("pre", { class: "flat", tabindex: "0" });
    const draw = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = lines.filter((line) => words.every((word) => line.toLowerCase().includes(word)));
      list.textContent = found.slice(0, 5000).join("\n") + (found.length > 5000 ? `\n… ${found.length - 5000} more lines` : "");
    };
    search.addEventListener("input", draw);
    draw();
    fill(this.body, h("div", { class: "row" }, search), list);
  }

  private async structure() {
    const name = this.host.class();
    if (!name) return this.hint("Open a model to see its structure.");
    const answer = await this.ask<any>("structure", { class: name }, "Sorting…");
    if (!answer) return;
    const { view, svg } = answer;
    const systems = view.blocks.filter((b: any) => b.equations.length > 1 || b.torn.length);
    const states = view.states.map((s: any) =>
      h("li", {}, button(s.name, `Draw ${s.name}`, () => this.host.draw(s.name), { class: "link" }), h("small", {}, ` ${s.reason}`)));
    const blocks = view.blocks.slice(0, ROWS_MAX).map((block: any, k: number) => this.block(block, k));
    const picture = h("details", { open: view.n_equations <= 60 }, h("summary", {}, "Incidence and digraph"), svgBox(svg));
    fill(this.body,
      h("p", {}, `${view.n_equations} equations, ${view.n_unknowns} unknowns, ${view.states.length} states, ${view.crossings.length} crossing functions; ${systems.length} systems of equations.`),
      h("details", { open: true }, h("summary", {}, "States"), h("ul", {}, states)),
      h("details", { open: true }, h("summary", {}, "Blocks in the order of evaluation"), h("div", { class: "blocks" }, blocks)),
      view.crossings.length > 0 && h("details", {}, h("summary", {}, "Crossing functions"), h("ul", {}, view.crossings.slice(0, ROWS_MAX).map((c: any) =>
        h("li", {}, this.line(c.file, c.line, c.relation), h("small", {}, ` ${c.class}`))))),
      picture);
  }

  private block(block: any, k: number): HTMLElement {
    const equations = block.equations.map((e: any) => {
      const torn = e.residual ? " torn" : "";
      return h("div", { class: `equation${torn}` }, this.line(e.file, e.line, e.text),
        e.determines && button("plot", `Draw ${e.determines}`, () => this.host.draw(e.determines), { class: "quiet", "aria-label": `Draw ${e.determines}` }));
    });
    if (block.equations.length === 1 && !block.torn.length) return equations[0];
    const title = `${k + 1}: ${block.kind}, ${block.equations.length} equations${block.coefficients ? `, ${block.coefficients} coefficients` : ""}`;
    return h("div", { class: "block" }, h("h3", {}, title), block.torn.length > 0 && h("p", { class: "hint" }, `iterated: ${block.torn.join(", ")}`), ...equations);
  }

  /** A text that leads to its line. */
  private line(file: string, line: number, text: string): HTMLElement {
    if (!line) return h("code", {}, text);
    return h("button", { type: "button", class: "link code", title: `${file}:${line}`, onclick: () => this.host.goTo(file, line) }, text);
  }

  private async modes() {
    const name = this.host.class();
    if (!name) return this.hint("Open a model to see its modes.");
    const answer = await this.ask<any>("modes", { class: name }, "Running the model to see its modes…");
    if (!answer) return;
    const { view, svg } = answer;
    if (view.modes.length <= 1 && !view.transitions.length) {
      return this.hint("This model has one mode: no choice of branches changes its equations. Events may still change its values.");
    }
    const rows = view.modes.map((m: any) => h("tr", {}, h("td", {}, m.number), h("td", {}, m.switches.join(", ") || "–"), h("td", {}, m.states.join(", ") || "–"),
      h("td", {}, m.index), h("td", {}, m.entered), h("td", {}, `${(100 * m.share).toFixed(1)} %`)));
    fill(this.body, svgBox(svg), table(["mode", "chosen by", "states", "index", "entered", "of the time"], rows));
  }

  private events() {
    const run = this.host.run();
    if (!run) return this.hint("Run a model to see its events.");
    const events = run.events;
    if (!events.length) return this.hint("This run had no events.");
    const rows = events.slice(0, ROWS_MAX).map((event) => {
      const cause = event.cause[0];
      const changed = event.changed.slice(0, 3).map((c) => `${c.variable} ${show(c.before, 4)} → ${show(c.after, 4)}`).join("; ");
      return h("tr", {}, h("td", {}, button(show(event.time, 9), "Move the cursor there", () => this.host.setCursor(event.time), { class: "link" })),
        h("td", {}, event.kind), h("td", {}, cause ? this.line(cause.file, cause.line, cause.expression) : "–"),
        h("td", {}, changed || "–", event.changed.length > 3 && ` and ${event.changed.length - 3} more`), h("td", {}, event.mode));
    });
    const total = run.result.eventCount;
    fill(this.body, h("p", {}, `${total} events${total > ROWS_MAX ? `, the first ${ROWS_MAX} of them` : ""}`), table(["time in s", "kind", "cause", "changed", "mode"], rows));
  }

  private async steps() {
    const run = this.host.run();
    if (!run) return this.hint("Run a model to see its steps.");
    const steps = await this.ask<any>("steps", { run: run.result.run }, "Fetching the steps…");
    if (!steps || !steps.time.length) return steps && this.hint("This run made no steps.");
    const s = run.result.statistics;
    const rejected = steps.rejected.reduce((a: number, b: number) => a + b, 0);
    fill(this.body,
      h("p", {}, `${steps.time.length} steps by ${steps.method}, ${rejected} attempts rejected; smallest ${show(Math.min(...steps.size.slice(0, 100_000)), 3)} s; `,
        `${s.rhs_evaluations} evaluations, ${s.jacobians} Jacobians; compiled in ${show(s.seconds.parse + s.seconds.flatten + s.seconds.structure + s.seconds.codegen, 3)} s, run in ${show(s.seconds.simulate, 3)} s.`),
      stepPicture(steps));
  }

  private async whyPage() {
    const run = this.host.run();
    if (!run) return this.hint("Run a model, then ask why a variable has its value.");
    const select = h("select", { "aria-label": "Variable" }, this.host.names().map((name) => h("option", { value: name }, name)));
    const name = this.whyName ?? select.value;
    if (this.whyName && ![...select.options].some((o) => o.value === this.whyName)) select.append(h("option", { value: this.whyName }, this.whyName));
    select.value = name;
    select.addEventListener("change", () => this.why(select.value));
    const time = this.host.cursor() ?? run.result.span[1];
    if (!name) return this.hint("Draw a variable first.");
    const answer = await this.ask<any>("why", { run: run.result.run, variable: name, time }, "Looking…");
    if (!answer) return;
    const derivative = answer.derivative ? (await this.host.values([answer.derivative])).get(answer.derivative) : null;
    const variable = (reference: { name: string; value: number | null }) =>
      h("li", {}, button(reference.name, `Why has ${reference.name} this value?`, () => this.why(reference.name), { class: "link" }), ` = ${show(reference.value, 8)}`);
    const equations = answer.equations.map((e: any) => h("div", { class: "block" }, this.line(e.file, e.line, e.text),
      e.determines && e.determines !== name && h("p", { class: "hint" }, `gives ${e.determines} = ${show(e.value, 8)}`), h("ul", {}, e.reads.filter((r: any) => r.name !== e.determines).map(variable))));
    const system = answer.equations.length > 1 ? `${name} is found together with others: a ${answer.kind} system of ${answer.equations.length} equations.` : "";
    fill(this.body, h("div", { class: "row" }, select, h("span", {}, `at ${show(time, 8)} s`)),
      h("p", { class: "answer" }, h("strong", {}, `${name} = ${show(answer.value, 10)}`)),
      answer.note && h("p", {}, answer.note),
      answer.derivative && h("ul", {}, variable({ name: answer.derivative, value: derivative ?? null })),
      system && h("p", {}, system), ...equations,
      !answer.equations.length && !answer.note && h("p", { class: "hint" }, "No equation of the run determines it: it is a parameter, a constant, or the same as another variable."));
  }
}

function table(head: string[], rows: HTMLElement[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)));
}

/** A picture of the server, which has colours for dark and light of its own. */
function svgBox(svg: string): HTMLElement {
  const box = h("div", { class: "svg" });
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  box.append(document.importNode(parsed, true));
  return box;
}

function stepPicture(steps: { time: number[]; size: number[] }): HTMLElement {
  const [w, height] = [800, 240];
  const n = steps.time.length;
  const logs = steps.size.map((s) => Math.log10(Math.max(s, 1e-300)));
  const [low, high] = logs.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const [t0, t1] = [steps.time[0], steps.time[n - 1]];
  const every = Math.ceil(n / 4000);
  let path = "";
  for (let k = 0; k < n; k += every) {
    const x = 50 + ((steps.time[k] - t0) / (t1 - t0 || 1)) * (w - 60), y = 10 + ((high - logs[k]) / (high - low || 1)) * (height - 40);
    path += `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  const marks = [high, (high + low) / 2, low].map((x, k) => `<text x="44" y="${14 + (k * (height - 40)) / 2}" text-anchor="end" fill="currentColor" font-size="11">1e${x.toFixed(1)}</text>`);
  return svgBox(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${height}" role="img" aria-label="Step sizes over time">${marks.join("")}<path d="${path}" fill="none" stroke="currentColor" stroke-width="1"/><text x="${w / 2}" y="${height - 6}" font-size="11" fill="currentColor" text-anchor="middle">${show(t0)} to ${show(t1)} s; size in s, logarithmic</text></svg>`);
}

export { describe };
