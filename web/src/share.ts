// A run in one file: what `Save as page` writes. The file brings this script, the styles and the numbers, and needs no server.

import { fill, h } from "./dom";
import { Plots } from "./plots";
import { Run } from "./runs";
import type { RunResult, Variable } from "./types";
import { describe } from "./plots";
import { show } from "./numbers";

/** What the file carries. */
export interface Shared {
  title: string;
  path: string;
  text: string;
  names: string[];
  variables: Variable[];
  runs: { result: RunResult; settings: [string, unknown][]; role: Run["role"]; columns: string[] }[];
  diagram: string | null;
}

/** Rows of the table of events. */
const EVENTS_MAX = 200;

function numbers(text: string): Float64Array {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

function begin(shared: Shared) {
  const variables = new Map(shared.variables.map((v) => [v.name, v]));
  const runs = shared.runs.map(({ result, settings, role, columns }) => {
    const run = new Run({ ...result, columns: columns.map(numbers) }, new Map(settings as [string, number][]));
    run.role = role;
    return run;
  });
  const current = runs[runs.length - 1];
  const lines = shared.text.split("\n").map((line) => h("div", {}, line || " "));
  let names = shared.names;
  const plots = new Plots({
    variable: (name) => variables.get(name),
    goTo(file, line) {
      if (file !== shared.path) return;
      lines.forEach((element, k) => element.classList.toggle("pointed", k === line - 1));
      lines[line - 1]?.scrollIntoView({ block: "center" });
    },
    remove(name) {
      names = names.filter((known) => known !== name);
      plots.show(names, runs);
    },
    cursorMoved: () => {},
  });
  const events = current.events.filter((e) => e.kind !== "initial" && e.kind !== "terminal");
  const rows = events.slice(0, EVENTS_MAX).map((event) => h("tr", {}, h("td", {}, show(event.time, 9)), h("td", {}, describe(event))));
  const diagram = h("div", { class: "paper" });
  if (shared.diagram) diagram.append(document.importNode(new DOMParser().parseFromString(shared.diagram, "image/svg+xml").documentElement, true));
  const settings = [...current.settings].map(([name, value]) => `${name} = ${value}`).join(", ");
  fill(document.getElementById("app")!,
    h("header", {}, h("h1", {}, shared.title), h("span", { class: "status" }, settings && `with ${settings}; `,
      `${show(current.result.span[0])} to ${show(current.result.span[1])} s, ${current.result.eventCount} events, made by Saltus ${current.result.statistics.saltus_version ?? ""}`)),
    h("main", {}, plots.element,
      h("details", { open: true }, h("summary", {}, "Model"), h("pre", { tabindex: "0" }, lines)),
      shared.diagram && h("details", { open: true }, h("summary", {}, "Diagram"), diagram),
      events.length > 0 && h("details", {}, h("summary", {}, `Events (${events.length})`), h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("tbody", {}, rows))))));
  document.body.classList.add("shared");
  plots.show(names, runs);
}

begin(JSON.parse(document.getElementById("shared")!.textContent ?? ""));
