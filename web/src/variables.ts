// The variables of a model as a tree, with a filter; a click draws a variable, a slider sets one.

import { fill, h } from "./dom";
import { show } from "./numbers";
import type { Variable } from "./types";

interface Node { name: string; path: string; children: Map<string, Node>; variable: Variable | null }

export interface VariablesHost {
  isShown(name: string): boolean;
  toggle(name: string): void;
  hasSlider(name: string): boolean;
  toggleSlider(name: string): void;
  /** Of what does not change. */
  value(name: string): number | null;
  /** At the cursor. */
  at(name: string): number | null;
}

/** Rows of a list that is not opened further. */
const SHOWN_MAX = 400;

export class Variables {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "tree", role: "group", "aria-label": "Variables" });
  private readonly filter = h("input", { type: "search", placeholder: "Filter variables", "aria-label": "Filter variables" });
  private readonly only = h("select", { "aria-label": "Which variables" },
    h("option", { value: "all" }, "all"), h("option", { value: "variables" }, "variables"), h("option", { value: "parameters" }, "parameters"), h("option", { value: "shown" }, "drawn"));
  private root: Node = empty("", "");
  private all: Variable[] = [];
  private opened = new Set<string>();

  constructor(private readonly host: VariablesHost) {
    this.filter.addEventListener("input", () => this.draw());
    this.only.addEventListener("change", () => this.draw());
    this.element = h("div", { class: "pane variables" }, h("div", { class: "row" }, this.filter, this.only), this.list);
  }

  set(variables: Variable[]) {
    this.all = variables;
    this.root = empty("", "");
    for (const variable of variables) insert(this.root, variable);
    if (this.root.children.size <= 3) for (const name of this.root.children.keys()) this.opened.add(name);
    this.draw();
  }

  focus() {
    this.filter.focus();
  }

  draw() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const only = this.only.value;
    if (words.length || only !== "all") {
      const isWanted = (v: Variable) => {
        const is = v.kind === "parameter" || v.kind === "constant";
        if (only === "variables" ? is : only === "parameters" ? !is : only === "shown" && !this.host.isShown(v.name)) return false;
        const text = `${v.name} ${v.description} ${v.unit}`.toLowerCase();
        return words.every((word) => text.includes(word));
      };
      const found = this.all.filter(isWanted);
      fill(this.list, found.slice(0, SHOWN_MAX).map((v) => this.row(v, v.name, 0)), more(found.length));
      if (!found.length) fill(this.list, h("p", { class: "hint" }, "Nothing matches."));
      return;
    }
    if (!this.all.length) {
      fill(this.list, h("p", { class: "hint" }, "Run a model to see its variables."));
      return;
    }
    const rows: HTMLElement[] = [];
    this.collect(this.root, 0, rows);
    fill(this.list, rows.slice(0, SHOWN_MAX * 5), more(rows.length, SHOWN_MAX * 5));
  }

  private collect(node: Node, depth: number, rows: HTMLElement[]) {
    for (const child of node.children.values()) {
      if (child.variable && child.children.size === 0) {
        rows.push(this.row(child.variable, child.name, depth));
        continue;
      }
      const open = this.opened.has(child.path);
      rows.push(h("button", {
        type: "button", class: "node", "aria-expanded": open ? "true" : "false", style: `--depth:${depth}`,
        onclick: () => {
          if (!this.opened.delete(child.path)) this.opened.add(child.path);
          this.draw();
        },
      }, h("span", { class: "twist" }, open ? "▾" : "▸"), child.name));
      if (open) {
        if (child.variable) rows.push(this.row(child.variable, child.name, depth + 1));
        this.collect(child, depth + 1, rows);
      }
    }
  }

  private row(v: Variable, name: string, depth: number): HTMLElement {
    const shown = this.host.isShown(v.name);
    const drawable = v.type !== "String";
    // A start value says something where it can be set; what changes is told at the cursor.
    const start = v.settable || v.kind === "parameter" || v.kind === "constant" ? v.value : null;
    const value = this.host.value(v.name) ?? this.host.at(v.name) ?? start;
    const text = typeof value === "number" ? show(value, 4) : value === null ? "" : String(value);
    const settable = v.settable && (v.type === "Real" || v.type === "Integer" || v.type === "Boolean" || v.type === "enumeration");
    return h("div", { class: `variable ${v.kind}${shown ? " shown" : ""}`, style: `--depth:${depth}`, title: title(v) },
      h("button", { type: "button", class: "name", disabled: !drawable, "aria-pressed": shown ? "true" : "false", "aria-label": `Draw ${v.name}`, onclick: () => this.host.toggle(v.name) },
        h("i", { class: "dot" }), name),
      h("span", { class: "value" }, text, v.unit && h("small", {}, ` ${v.unit}`)),
      settable && h("button", {
        type: "button", class: `quiet slide${this.host.hasSlider(v.name) ? " on" : ""}`, title: v.structural ? `Set it (compiles again: ${v.structural})` : "Set it with a slider",
        "aria-label": `Slider for ${v.name}`, "aria-pressed": this.host.hasSlider(v.name) ? "true" : "false", onclick: () => this.host.toggleSlider(v.name),
      }, "⇆"));
  }
}

function title(v: Variable): string {
  return [v.name, v.description, `${v.kind} ${v.type}`, v.unit && `in ${v.unit}`].filter(Boolean).join("\n");
}

function more(count: number, shown = SHOWN_MAX): HTMLElement | null {
  return count > shown ? h("p", { class: "hint" }, `and ${count - shown} more: filter to see them`) : null;
}

function empty(name: string, path: string): Node {
  return { name, path, children: new Map(), variable: null };
}

/** Parts of a name: `a.b[2].c` goes below a, b[2], c; `der(a.b)` below a; elements below their array. */
function insert(root: Node, variable: Variable) {
  const derivative = /^der\((.*)\)$/.exec(variable.name);
  const parts = split(derivative ? derivative[1] : variable.name);
  if (derivative) parts[parts.length - 1] = `der(${parts[parts.length - 1]})`;
  const element = /^(.*?)(\[[\d,]+\])$/.exec(parts[parts.length - 1]);
  if (element && !derivative) parts.splice(-1, 1, element[1], parts[parts.length - 1]);
  let node = root;
  for (const part of parts) {
    const path = node.path ? `${node.path}.${part}` : part;
    let child = node.children.get(part);
    if (!child) node.children.set(part, (child = empty(part, path)));
    node = child;
  }
  node.variable = variable;
}

/** At dots outside of quotes and brackets. */
function split(name: string): string[] {
  return name.match(/('(\\.|[^'\\])*'|[^.'[]|\[[^\]]*\])+/g) ?? [name];
}
