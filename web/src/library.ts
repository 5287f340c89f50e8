// Files of the opened folder, and the classes of the libraries as a tree.

import { fill, h } from "./dom";
import type { ClassView, Hello } from "./types";

export interface LibraryHost {
  classes(of: string | null): Promise<ClassView[]>;
  openFile(path: string): void;
  openClass(view: ClassView): void;
}

const LETTERS: Record<string, string> = {
  package: "P", model: "M", block: "B", function: "f", record: "R", connector: "C", "expandable connector": "C", type: "T", class: "M", operator: "O",
};

export class Library {
  private readonly files = h("div", { class: "tree", "aria-label": "Files", role: "group" });
  private readonly tree = h("div", { class: "tree", "aria-label": "Libraries", role: "group" });
  private readonly search = h("input", { type: "search", placeholder: "Go to class: Modelica.Blocks…", "aria-label": "Go to class" });
  readonly element = h("div", { class: "pane library" }, h("div", { class: "row" }, this.search), this.files, this.tree);

  constructor(private readonly host: LibraryHost) {
    this.search.addEventListener("input", () => void this.complete());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.go();
    });
  }

  focus() {
    this.search.focus();
  }

  async load(hello: Hello) {
    fill(this.files, hello.files.map((file) =>
      h("button", { type: "button", class: "node file", onclick: () => this.host.openFile(file.path) }, h("span", { class: "letter" }, "·"), file.name)));
    await this.roots();
  }

  private async roots() {
    const classes = await this.host.classes(null).catch(() => []);
    fill(this.tree, classes.map((view) => this.node(view, 0)),
      classes.length === 0 && h("p", { class: "hint" }, "No libraries: start with ", h("code", {}, "--library DIR"), " or set ", h("code", {}, "MODELICAPATH"), "."));
  }

  private node(view: ClassView, depth: number): HTMLElement {
    const inside = h("div", { role: "group", hidden: true });
    let loaded = false;
    const twist = h("span", { class: "twist" }, view.has_classes ? "▸" : "");
    const label = h("button", {
      type: "button", class: `node ${view.is_model ? "model" : ""}${view.partial ? " partial" : ""}`, style: `--depth:${depth}`,
      title: `${view.restriction} ${view.qualified}\n${view.description}`, "aria-expanded": view.has_classes ? "false" : null,
      onclick: async () => {
        if (!view.has_classes) return this.host.openClass(view);
        inside.hidden = !inside.hidden;
        twist.textContent = inside.hidden ? "▸" : "▾";
        label.setAttribute("aria-expanded", String(!inside.hidden));
        if (!loaded) {
          loaded = true;
          const classes = await this.host.classes(view.qualified).catch(() => []);
          fill(inside, classes.map((child) => this.node(child, depth + 1)));
        }
      },
      ondblclick: () => this.host.openClass(view),
    }, twist, h("span", { class: `letter ${view.restriction.replace(/ .*/, "")}` }, LETTERS[view.restriction] ?? "·"), view.name, view.has_experiment && h("span", { class: "runs", title: "says how it is run" }, "▸"));
    return h("div", { role: "none" }, label, inside);
  }

  private async complete() {
    const text = this.search.value.trim();
    if (!text) return this.roots();
    const dot = text.lastIndexOf(".");
    const around = dot < 0 ? null : text.slice(0, dot);
    const rest = text.slice(dot + 1).toLowerCase();
    const classes = await this.host.classes(around).catch(() => []);
    if (this.search.value.trim() !== text) return;
    const found = classes.filter((c) => c.name.toLowerCase().includes(rest));
    fill(this.tree, found.map((view) => this.node(view, 0)), found.length === 0 && h("p", { class: "hint" }, "No such class."));
  }

  private async go() {
    const text = this.search.value.trim();
    const around = text.includes(".") ? text.slice(0, text.lastIndexOf(".")) : null;
    const classes = await this.host.classes(around).catch(() => []);
    const exact = classes.find((c) => c.qualified === text);
    if (exact) this.host.openClass(exact);
  }
}
