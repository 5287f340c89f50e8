// The page: what is open, what runs, and which view shows it.

import { Chart } from "./chart";
import { Diagram } from "./diagram";
import { button, download, fill, h } from "./dom";
import { cureOf, Editor, messageBody, type Document } from "./editor";
import { Library } from "./library";
import { show } from "./numbers";
import { Play } from "./play";
import { Plots } from "./plots";
import { Run, Stream, type Settings } from "./runs";
import { Refusal, Socket } from "./socket";
import type { Space } from "./space";
import type { ClassView, Hello, Message, RunResult, StartModel, Variable } from "./types";
import type { Shared } from "./share";
import { Understand } from "./understand";
import { Variables } from "./variables";

/** Milliseconds without a key before a text is checked. */
const CHECK_DELAY = 250;
/** Runs of a sweep. */
const SWEEP_RUNS = 9;


// The token has done its work: it is a cookie now, and need not be seen or copied.
const query = new URLSearchParams(location.search);
const token = query.get("token") ?? "";
if (token) history.replaceState(null, "", location.pathname);

const socket = new Socket(`ws://${location.host}/socket${token ? `?token=${token}` : ""}`);
let hello: Hello | null = null;

/** Variables of the models that are known, by the number of the model. */
const variables = new Map<number, Map<string, Variable>>();
const known = new Map<string, number>();
let shown: string[] = [];
let current: Run | null = null;
let ghosts: Run[] = [];
let pinned: Run[] = [];
let sweep: Run[] = [];
let stream: Stream | null = null;
let running = false;
/** What each model shows, so that going back to it finds it as it was. */
const remembered = new Map<string, { shown: string[]; sliders: string[] }>();

// ---------------------------------------------------------------- the parts

const editor = new Editor({
  changed(document) {
    clearTimeout(checkTimer);
    checkTimer = window.setTimeout(() => send(document), CHECK_DELAY);
  },
  shown(document) {
    chooseClass();
    drawProblems();
    startPage.hidden = document !== null;
    editor.element.hidden = document === null;
    if (document && !document.readOnly) send(document);
  },
  run: () => void run(true),
  save: () => void save(),
  closed(document) {
    if (!document.readOnly) socket.tell("close", { path: document.path });
  },
});
let checkTimer = 0;

const play = new Play({
  variable: (name) => variableOf(name),
  changed: (settings, final) => follow(settings, final),
  pin: () => pin(),
  sweep: (name, from, to) => void runSweep(name, from, to),
  clear() {
    [pinned, sweep, ghosts] = [[], [], []];
    redraw();
  },
});

const plots = new Plots({
  variable: (name) => variableOf(name),
  goTo: (file, line) => void goTo(file, line),
  remove: (name) => toggle(name),
  share: () => void sharePage(),
  cursorMoved: (time) => {
    space?.follow(time);
    if (shownView === "diagram") void diagram.colour();
  },
});

const tree = new Variables({
  isShown: (name) => shown.includes(name),
  toggle: (name) => toggle(name),
  hasSlider: (name) => play.has(name),
  toggleSlider(name) {
    play.toggle(name);
    tree.draw();
    remember();
  },
  value: (name) => current?.constants.get(name) ?? null,
  at: (name) => (plots.cursor === null ? null : (current?.at(name, plots.cursor)?.[1] ?? null)),
});

const library = new Library({
  classes: (of) => socket.call<ClassView[]>("classes", { class: of }),
  openFile: (path) => void open({ path }),
  openClass: (view) => void open({ class: view.qualified }),
});

const understand = new Understand({
  call: (method, params) => socket.call(method, params),
  class: () => chosenClass(),
  run: () => current,
  cursor: () => plots.cursor,
  values: (names) => valuesAtCursor(names),
  goTo: (file, line) => void goTo(file, line),
  setCursor(time) {
    view("plots");
    plots.setCursor(time, true);
  },
  draw(name) {
    if (!shown.includes(name)) toggle(name);
    view("plots");
  },
  names: () => (shown.length ? shown : [...(variables.get(current?.result.model ?? -1)?.keys() ?? [])].slice(0, 500)),
});

const diagram = new Diagram({
  call: (method, params) => socket.call(method, params),
  class: () => chosenClass(),
  run: () => current,
  below: (prefix) => [...(variables.get(current?.result.model ?? -1)?.values() ?? [])].filter((v) => v.name.startsWith(prefix)),
  values: (names) => valuesAtCursor(names),
  draw(name) {
    if (!shown.includes(name)) toggle(name);
  },
  openClass: (name) => void open({ class: name }),
});

let space: Space | null = null;

/** The view of bodies brings a library of its own, which is loaded now. */
async function openSpace() {
  if (!space) {
    const part = "./space.js";
    const { Space: View } = (await import(part)) as typeof import("./space");
    space = new View({
      run: () => current,
      variables: () => variables.get(current?.result.model ?? -1)?.values() ?? [],
      fetch: async (names) => {
        const run = current;
        const missing = names.filter((name) => run && !run.has(name));
        if (run && missing.length) run.add(await socket.call("columns", { run: run.result.run, names: missing }));
      },
      cursor: () => plots.cursor,
      setCursor: (time) => plots.setCursor(time, true),
    });
    viewBodies.space.append(space.element);
  }
  await space.open();
}

/** At the cursor, or at the end of the run; columns that are not here are fetched. */
async function valuesAtCursor(names: string[]): Promise<Map<string, number | null>> {
  const run = current;
  const missing = names.filter((name) => run && !run.has(name));
  if (run && missing.length) {
    const part = await socket.call("columns", { run: run.result.run, names: missing }).catch(() => null);
    if (part) run.add(part);
  }
  const time = plots.cursor ?? run?.result.span[1] ?? 0;
  return new Map(names.map((name) => [name, run?.at(name, time)?.[1] ?? null]));
}

const documentation = h("div", { class: "documentation", tabindex: "0" });

// ---------------------------------------------------------------- the frame

const status = h("span", { class: "status", role: "status", "aria-live": "polite" });
const classes = h("select", { class: "class", "aria-label": "Model to run", title: "Model to run" });
const stopTime = h("input", { type: "text", inputmode: "decimal", class: "stop", placeholder: "auto", "aria-label": "Stop time in seconds", title: "Stop time; empty: what the model says" });
const solver = h("select", { "aria-label": "Integrator", title: "Integrator" }, ["auto", "dopri5", "dop853", "radau", "esdirk", "bdf"].map((name) => h("option", { value: name }, name)));
const runButton = button("▶ Run", "Run the model (Ctrl-Enter)", () => (running ? cancel() : void run(true)), { class: "primary run" });
const problems = h("div", { class: "problems", "aria-label": "Problems", role: "region", tabindex: "0" });
const startPage = h("div", { class: "start" });

const VIEWS = [
  ["plots", "Plots", "Curves over time (Alt-1)"],
  ["diagram", "Diagram", "Components and connections (Alt-2)"],
  ["space", "3D", "Bodies in space (Alt-3)"],
  ["understand", "Understand", "Equations, structure, events (Alt-4)"],
  ["documentation", "Documentation", "What the class says about itself (Alt-5)"],
] as const;
type ViewName = (typeof VIEWS)[number][0];
let shownView: ViewName = "plots";
const viewTabs = h("div", { class: "tabs views", role: "tablist", "aria-label": "Views" });
const viewBodies: Record<ViewName, HTMLElement> = {
  plots: h("div", { class: "body" }, plots.element, play.element),
  diagram: h("div", { class: "body" }, diagram.element),
  space: h("div", { class: "body" }),
  understand: h("div", { class: "body" }, understand.element),
  documentation: h("div", { class: "body" }, documentation),
};

const SIDES = [["library", "Library", library.element], ["variables", "Variables", tree.element]] as const;
const sideTabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Library or variables" });

function side(name: "library" | "variables") {
  fill(sideTabs, SIDES.map(([key, label]) =>
    h("div", { class: `tab${key === name ? " active" : ""}` }, h("button", { type: "button", role: "tab", "aria-selected": String(key === name), onclick: () => side(key) }, label))));
  for (const [key, , element] of SIDES) element.hidden = key !== name;
}

function view(name: ViewName) {
  shownView = name;
  fill(viewTabs, VIEWS.map(([key, label, title]) =>
    h("div", { class: `tab${key === name ? " active" : ""}` }, h("button", { type: "button", role: "tab", title, "aria-selected": String(key === name), onclick: () => view(key) }, label))));
  for (const [key, element] of Object.entries(viewBodies)) element.hidden = key !== name;
  if (name === "plots") plots.later();
  if (name === "diagram") void diagram.open();
  if (name === "space") void openSpace();
  else space?.stop();
  if (name === "understand") understand.draw();
  if (name === "documentation") void drawDocumentation();
}

const app = document.getElementById("app")!;

function frame() {
  const theme = button("◐", "Dark or light", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && document.documentElement.dataset.theme !== "light";
    const next = document.documentElement.dataset.theme ? (document.documentElement.dataset.theme === "dark" ? "light" : "dark") : matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark";
    document.documentElement.dataset.theme = next ?? (dark ? "light" : "dark");
    localStorage.setItem("saltus-theme", document.documentElement.dataset.theme);
    redraw();
  }, { class: "quiet", "aria-label": "Dark or light" });
  const saved = localStorage.getItem("saltus-theme");
  if (saved) document.documentElement.dataset.theme = saved;
  const home = h("button", { type: "button", class: "brand", title: "Start page", onclick: () => editor.show(null) },
    h("img", { src: "favicon.svg", alt: "", width: 22, height: 22 }), "Saltus");
  const phone = h("nav", { class: "phone", "aria-label": "Part of the page" }, (["side", "text", "look"] as const).map((part, k) =>
    button(["List", "Text", "Look"][k], `Show the ${part} part`, () => (app.dataset.part = part))));
  app.dataset.part = "text";
  fill(app,
    h("header", {}, home, classes, runButton, h("label", { class: "field" }, "to", stopTime, "s"), h("label", { class: "field" }, solver), status, theme),
    h("main", {},
      h("aside", { class: "side", "aria-label": "Library and variables" }, sideTabs, ...SIDES.map((s) => s[2])),
      h("section", { class: "text", "aria-label": "Text" }, editor.tabs, startPage, editor.element, problems),
      divider(),
      h("section", { class: "look", "aria-label": "Results" }, viewTabs, ...Object.values(viewBodies))),
    phone);
  side("library");
  view("plots");
  play.draw();
  tree.draw();
}

/** Moved with the mouse or arrow keys. */
function divider(): HTMLElement {
  const set = (share: number) => app.style.setProperty("--text-share", `${Math.min(0.75, Math.max(0.2, share))}`);
  const element = h("div", { class: "divider", role: "separator", tabindex: "0", "aria-label": "Width of the text", "aria-orientation": "vertical", "aria-valuenow": "45" });
  const at = (x: number) => {
    const text = document.querySelector(".text")!.getBoundingClientRect();
    const look = document.querySelector(".look")!.getBoundingClientRect();
    return (x - text.left) / (look.right - text.left);
  };
  element.addEventListener("pointerdown", (event) => element.setPointerCapture(event.pointerId));
  element.addEventListener("pointermove", (event) => element.hasPointerCapture(event.pointerId) && set(at(event.clientX)));
  element.addEventListener("keydown", (event) => {
    const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (direction) set(at(element.getBoundingClientRect().left) + 0.02 * direction);
  });
  return element;
}

// ---------------------------------------------------------------- texts

function send(document: Document) {
  clearTimeout(checkTimer);
  socket.tell("text", { path: document.path, text: editor.text(document), class: document === editor.active ? classes.value || null : null });
}

async function open(what: { path?: string; class?: string }) {
  try {
    const answer = await socket.call<{ path: string; text: string; line: number; readOnly: boolean }>("open", what);
    const document = editor.open(answer.path, answer.text, answer.readOnly, what.class ?? null);
    chooseClass();
    if (shownView !== "plots") view(shownView);
    if (answer.line > 1) editor.goTo(answer.line);
    app.dataset.part = "text";
    return document;
  } catch (error) {
    say((error as Error).message, true);
    return null;
  }
}

async function goTo(file: string, line: number) {
  const document = editor.find(file);
  if (document) {
    if (document !== editor.active) editor.show(document);
    editor.goTo(line);
    app.dataset.part = "text";
  } else if (await open({ path: file })) editor.goTo(line);
}

async function save() {
  const document = editor.active;
  if (!document || document.readOnly) return;
  let path = document.path;
  if (path.startsWith("/untitled/")) {
    if (!hello?.folder) {
      download(path.slice("/untitled/".length), editor.text(document), "text/plain");
      return say("Nothing was opened to save into: the text was downloaded");
    }
    path = path.slice("/untitled/".length);
  }
  try {
    const answer = await socket.call<{ path: string }>("save", { path, text: editor.text(document) });
    if (answer.path !== document.path) {
      socket.tell("close", { path: document.path });
      editor.rename(document, answer.path);
      send(document);
    }
    document.saved = editor.text(document);
    editor.drawTabs();
    say(`Saved ${answer.path.split("/").pop()}`);
  } catch (error) {
    say((error as Error).message, true);
  }
}

/** The models of the text that is shown, and which of them is meant. */
function chooseClass() {
  const document = editor.active;
  const models = document?.classes.filter((c) => c.is_model).map((c) => c.qualified) ?? [];
  if (document?.asked && !models.includes(document.asked)) models.unshift(document.asked);
  const before = classes.value;
  fill(classes, models.map((name) => h("option", { value: name, title: name }, models.length > 1 && name.length > 40 ? `…${name.slice(-38)}` : name)));
  classes.hidden = models.length === 0;
  // The last one that is no part of another model.
  const last = models.findLast((name) => !models.some((other) => name.startsWith(`${other}.`))) ?? "";
  classes.value = models.includes(before) ? before : (document?.asked ?? last);
}

function chosenClass(): string | null {
  return classes.value || null;
}

socket.on("checked", (message: { path: string; classes: ClassView[]; messages: Message[]; class?: string }) => {
  const document = editor.find(message.path);
  if (!document) return;
  document.classes = message.classes;
  diagram.refresh();
  editor.setMessages(document, message.messages);
  if (document === editor.active) {
    chooseClass();
    drawProblems();
    if (shownView === "diagram") void diagram.open();
  }
});
classes.addEventListener("change", () => shownView !== "plots" && view(shownView));

function drawProblems() {
  const messages = editor.active?.messages ?? [];
  const notes = messages.filter((message) => message.severity === "note");
  problems.hidden = messages.length === 0;
  fill(problems, messages.filter((message) => message.severity !== "note").slice(0, 100).map(problem),
    notes.length > 0 && h("details", { class: "notes" }, h("summary", {}, `${notes.length} note${notes.length > 1 ? "s" : ""} on how the result came about`), ...notes.slice(0, 100).map(problem)));
}

function problem(message: Message): HTMLElement {
  const place = message.place;
  const elsewhere = place && place.file !== editor.active?.path ? `${place.file.split("/").pop()}:` : "";
  const cure = place && !elsewhere ? cureOf(message) : null;
  return h("div", { class: `problem ${message.severity}` },
    h("button", { type: "button", class: "to", onclick: () => place && void goTo(place.file, place.from[0]) },
      h("span", { class: "where" }, place ? `${elsewhere}${place.from[0]}` : ""), messageBody(message)),
    cure !== null && button(`Write ${cure}`, `Write \`${cure}\` instead`, () => editor.cure(message, cure)));
}

function say(text: string, isError = false) {
  status.textContent = text;
  status.classList.toggle("error", isError);
}

// ---------------------------------------------------------------- runs

function variableOf(name: string): Variable | undefined {
  const model = current?.result.model;
  return model === undefined ? undefined : variables.get(model)?.get(name);
}

/** Stop time and integrator of the head line. */
function options(streamed: boolean) {
  const stop = Number(stopTime.value.replace(",", "."));
  return {
    stop: stopTime.value.trim() && Number.isFinite(stop) ? stop : null,
    solver: solver.value === "auto" ? null : solver.value,
    stream: streamed,
  };
}

async function request(job: string, name: string, settings: Settings, columns: string[], streamed = false): Promise<Run> {
  const result = await socket.call<RunResult>("run", {
    job, class: name, known: known.get(name) ?? null, settings: [...settings], options: options(streamed), columns,
  });
  if (result.variables) variables.set(result.model, new Map(result.variables.map((v) => [v.name, v])));
  known.set(name, result.model);
  return new Run(result, new Map(settings));
}

/** Runs the chosen model; errors point into the text. */
async function run(byHand: boolean) {
  const name = chosenClass();
  const document = editor.active;
  if (!name) return say("There is no model to run: write one, or open one", true);
  if (document && !document.readOnly) send(document);
  const isOther = current?.result.class !== name;
  if (isOther) prepare(name);
  setRunning(true);
  stream = new Stream();
  const begun = performance.now();
  try {
    const done = await request("run", name, play.settings, shown, true);
    if (isOther || byHand) ghosts = [];
    accept(done);
    if (!shown.length) await drawFirst();
    const s = done.result.statistics;
    const events = s.events.time + s.events.state + s.events.step;
    say(`${show(done.result.span[1], 4)} s in ${((performance.now() - begun) / 1000).toFixed(2)} s: ${s.steps} steps, ${events} events`);
    const failure = done.result.failure;
    if (failure) {
      say(failure[0]?.message ?? "the run could not be completed", true);
      report(failure);
    } else if (document) editor.setMessages(document, [...document.messages.filter((m) => m.severity !== "error"), ...own(done.result.warnings, document)]);
    drawProblems();
    if (isOther) side("variables");
    tree.draw();
    understand.draw();
    if (shownView === "space") void openSpace();
    if (matchMedia("(max-width: 760px)").matches) app.dataset.part = "look";
  } catch (error) {
    const refusal = error as Refusal;
    if (!refusal.cancelled) {
      say(refusal.message, true);
      report(refusal.diagnostics ?? []);
    } else say("Cancelled");
  }
  stream = null;
  setRunning(false);
}

/** Warnings that are not there yet. */
function own(messages: Message[], document: Document): Message[] {
  const there = new Set(document.messages.map((m) => m.message));
  return messages.filter((m) => !there.has(m.message));
}

function report(messages: Message[]) {
  if (!editor.active || !messages.length) return;
  editor.setMessages(editor.active, messages);
  drawProblems();
  const place = messages[0].place;
  if (place && place.file === editor.active.path) editor.goTo(place.from[0], place.from[1], false);
}

/** Another model: what it showed before. */
function prepare(name: string) {
  const before = remembered.get(name);
  shown = before?.shown ?? [];
  [ghosts, pinned, sweep] = [[], [], []];
  play.reset(before?.sliders ?? []);
}

function remember() {
  const name = current?.result.class;
  if (name) remembered.set(name, { shown: [...shown], sliders: [...play.names] });
}

function accept(done: Run) {
  const isOther = current?.result.model !== done.result.model;
  current = done;
  const all = variables.get(done.result.model);
  if (isOther && all) {
    shown = shown.filter((name) => all.has(name));
    tree.set([...all.values()]);
    play.draw();
  }
  redraw();
}

/** Without a choice of the user: the states that are neither many nor dull. */
async function drawFirst() {
  const all = [...(variables.get(current?.result.model ?? -1)?.values() ?? [])];
  const changing = all.filter((v) => v.kind === "continuous" && v.type === "Real" && !v.name.startsWith("der("));
  const top = changing.filter((v) => !v.name.includes("."));
  shown = (top.length ? top : changing).slice(0, 3).map((v) => v.name);
  await fetchColumns();
  remember();
  tree.draw();
}

async function fetchColumns() {
  const runs = [...pinned, ...ghosts, ...sweep, current].filter((r): r is Run => r !== null);
  await Promise.all(runs.map(async (run) => {
    const names = shown.filter((name) => !run.has(name));
    if (!names.length || !run.result.run) return;
    try {
      run.add(await socket.call("columns", { run: run.result.run, names }));
    } catch (error) {
      if (run === current) say((error as Error).message, true);
    }
  }));
  redraw();
}

function toggle(name: string) {
  shown = shown.includes(name) ? shown.filter((known) => known !== name) : [...shown, name];
  remember();
  tree.draw();
  void fetchColumns();
}

function redraw() {
  const others = [...sweep, ...pinned, ...ghosts];
  for (const run of pinned) run.role = "pinned";
  for (const run of ghosts) run.role = "ghost";
  for (const run of sweep) run.role = "sweep";
  if (current) current.role = "current";
  plots.show(shown, current ? [...others, current] : []);
}

socket.on("rows", (message) => {
  if (!stream || message.job !== "run") return;
  stream.take(message);
  const partial = stream.run();
  plots.show(stream.names, [partial]);
  say(`${show(partial.time[partial.time.length - 1], 4)} s …`);
});

function setRunning(on: boolean) {
  running = on;
  runButton.textContent = on ? "■ Stop" : "▶ Run";
  runButton.title = on ? "Stop the run; what was computed stays (Escape)" : "Run the model (Ctrl-Enter)";
}

function cancel() {
  socket.tell("cancel", { job: "run" });
}

// ---------------------------------------------------------------- play

let inFlight = false;
let next: { settings: Settings; final: boolean } | null = null;
let released = 0;
/** Milliseconds from release to curve, for whoever measures. */
const latencies: number[] = [];
// For whoever looks from outside: tests, people at the console.
Object.assign(window, { saltusLatencies: latencies, saltusParts: { Chart, socket } });
/** The run before the slider was touched. */
let held: Run | null = null;

/** Runs with the newest settings, one run after another. */
function follow(settings: Settings, final: boolean) {
  held ??= current;
  if (final) released = performance.now();
  next = { settings, final };
  if (!inFlight) void drain();
}

async function drain() {
  inFlight = true;
  const name = current?.result.class ?? chosenClass();
  while (next && name) {
    const { settings, final } = next;
    next = null;
    try {
      const done = await request("play", name, settings, shown);
      if (final) {
        ghosts = held && held !== done ? [held] : [];
        held = null;
      } else if (held) ghosts = [held];
      const begun = released;
      if (final) plots.onDrawn = () => {
        latencies.push(performance.now() - begun);
        plots.onDrawn = () => {};
      };
      accept(done);
      if (done.result.failure) say(done.result.failure[0]?.message ?? "the run could not be completed", true);
      else say(`${(1000 * done.result.statistics.seconds.simulate).toFixed(1)} ms, ${done.result.eventCount} events`);
      if (final) {
        tree.draw();
        if (shownView === "understand") understand.draw();
        if (shownView === "space") void openSpace();
      }
    } catch (error) {
      const refusal = error as Refusal;
      if (!refusal.cancelled) say(refusal.message, true);
    }
  }
  inFlight = false;
}

function pin() {
  if (!current || pinned.includes(current)) return;
  pinned.push(current);
  ghosts = [];
  redraw();
  say("Pinned: the next runs are drawn beside it");
}

async function runSweep(parameter: string, from: number, to: number) {
  const name = current?.result.class;
  if (!name) return;
  sweep = [];
  const whole = variableOf(parameter)?.type === "Integer";
  for (let k = 0; k < SWEEP_RUNS; k++) {
    const share = k / (SWEEP_RUNS - 1);
    const value = from + share * (to - from);
    const settings = new Map(play.settings).set(parameter, whole ? Math.round(value) : value);
    try {
      const done = await request(`sweep${k}`, name, settings, shown);
      done.shade = share;
      sweep.push(done);
      redraw();
    } catch (error) {
      say((error as Error).message, true);
    }
  }
  say(`${sweep.length} runs with ${parameter} from ${show(from, 3)} to ${show(to, 3)}, pale to strong`);
}

// ---------------------------------------------------------------- other pages

async function drawDocumentation() {
  const name = chosenClass();
  if (!name) return fill(documentation, h("p", { class: "hint" }, "Open a class to read its documentation."));
  const found = await socket.call<{ info: string; revisions: string } | null>("documentation", { class: name }).catch(() => null);
  fill(documentation, h("h1", {}, name), found?.info ? cleaned(found.info) : h("p", { class: "hint" }, "This class has no documentation."));
}

const ALLOWED = new Set("A B I U EM STRONG CODE PRE P BR H1 H2 H3 H4 H5 H6 UL OL LI TABLE THEAD TBODY TR TD TH CAPTION SUB SUP DL DT DD BLOCKQUOTE HR SPAN DIV TT FONT SMALL BIG CENTER".split(" "));

/** HTML of somebody else: only elements that show text, and links to classes. */
function cleaned(html: string): HTMLElement {
  const source = new DOMParser().parseFromString(html, "text/html").body;
  const copy = (from: Node, to: HTMLElement) => {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) to.append(node.textContent ?? "");
      if (!(node instanceof HTMLElement)) continue;
      if (!ALLOWED.has(node.tagName)) {
        if (node.tagName !== "SCRIPT" && node.tagName !== "STYLE") copy(node, to);
        continue;
      }
      const link = node.getAttribute("href");
      const target = link && /^modelica:\/\/([\w.']+)$/i.exec(link)?.[1];
      const element = target
        ? button("", `Open ${target}`, () => void open({ class: target }), { class: "link" })
        : node.tagName === "A" && link && /^https?:/.test(link)
          ? h("a", { href: link, rel: "noreferrer noopener", target: "_blank" })
          : document.createElement(node.tagName === "A" || node.tagName === "FONT" ? "span" : node.tagName);
      copy(node, element);
      to.append(element);
    }
  };
  const out = h("div", {});
  copy(source, out);
  return out;
}

function openStart(model: StartModel) {
  const begin = async () => {
    const name = model.class ?? model.name;
    remembered.set(name, { shown: model.plotted, sliders: model.sliders });
    if (model.class) await open({ class: model.class });
    else {
      const path = `/untitled/${model.name}.mo`;
      const there = editor.find(path);
      if (there) editor.show(there);
      else editor.open(path, model.text ?? "", false, model.name);
      chooseClass();
    }
    if (current) current = null;
    await run(true);
  };
  void begin();
}

function drawStart() {
  if (!hello) return;
  const write = () => {
    const path = "/untitled/Model1.mo";
    editor.open(path, "model Model1\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -k*x;\nend Model1;\n", false, null);
    editor.focus();
  };
  fill(startPage,
    h("h1", {}, "Models that jump"),
    h("p", { class: "lead" }, "Open one: it runs at once. Change the text and press ", h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), "; drag a slider and the curves follow; click an event and see the line that made it."),
    h("div", { class: "cards" }, hello.start.map((model) =>
      h("button", { type: "button", class: "card", onclick: () => openStart(model) }, h("strong", {}, model.title), h("span", {}, model.teaser)))),
    h("div", { class: "row" }, button("Write a model", "An empty text to begin with", write), hello.folder && h("span", { class: "hint" }, `Folder: ${hello.folder}`)));
}

plots.setEmpty(h("h2", {}, "Curves appear here"), h("p", {}, "Run the model with ", h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), ", then choose variables on the left."),
  h("p", {}, "Drag over a curve to zoom, double-click to see all. Arrow keys move the cursor; ", h("kbd", {}, "E"), " goes to the next event."));

function base64(values: Float64Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let k = 0; k < bytes.length; k += 0x8000) text += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  return btoa(text);
}

/** The curves, the text, the events and the diagram as one file that needs no server. */
async function sharePage() {
  const run = current;
  if (!run) return say("Run a model first", true);
  const source = editor.active;
  const [script, style, drawn] = await Promise.all([
    fetch("share.js").then((r) => r.text()),
    fetch("style.css").then((r) => r.text()),
    socket.call<{ svg: string; components: unknown[] } | null>("diagram", { class: run.result.class }).catch(() => null),
  ]);
  const shared: Shared = {
    title: run.result.class,
    path: source?.path ?? "",
    text: source ? editor.text(source) : "",
    names: shown,
    variables: shown.map((name) => variableOf(name)).filter((v): v is Variable => v !== undefined),
    runs: [...sweep, ...pinned, run].map((one) => {
      const names = shown.filter((name) => one.columns.has(name));
      const constants = Object.fromEntries(shown.filter((name) => one.constants.has(name)).map((name) => [name, one.constants.get(name) ?? 0]));
      return {
        result: { ...one.result, names, constants, variables: null, columns: [] },
        settings: [...one.settings], role: one.role,
        columns: [one.time, ...names.map((name) => one.columns.get(name)!)].map(base64),
      };
    }),
    diagram: drawn?.components.length ? drawn.svg : null,
  };
  // What ends a script or a comment must not stand in one.
  const data = JSON.stringify(shared).replaceAll("<", "\\u003c");
  const title = run.result.class.replaceAll("<", "&lt;");
  const page = `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style></head>` +
    `<body><div id="app"></div><script type="application/json" id="shared">${data}</script><script type="module">${script.replaceAll("</script", "<\\/script")}</script></body></html>\n`;
  download(`${run.result.class.split(".").pop()}.html`, page, "text/html");
}

// ---------------------------------------------------------------- beginning

const VIEW_KEYS: Record<string, ViewName> = { "1": "plots", "2": "diagram", "3": "space", "4": "understand", "5": "documentation" };
document.addEventListener("keydown", (event) => {
  const inText = (event.target as Element).closest?.(".cm-editor, input, textarea, select");
  if (event.altKey && VIEW_KEYS[event.key]) {
    event.preventDefault();
    view(VIEW_KEYS[event.key]);
  } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !event.defaultPrevented) {
    event.preventDefault();
    void run(true);
  } else if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    void save();
  } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !inText) {
    event.preventDefault();
    if (event.shiftKey) play.redo();
    else play.undo();
  } else if (event.key === "Escape" && running) cancel();
  else if (event.key === "p" && !inText && !event.ctrlKey && !event.metaKey && !event.altKey) pin();
});
window.addEventListener("beforeunload", (event) => {
  if (editor.documents.some((d) => !d.readOnly && !d.path.startsWith("/untitled/") && editor.isChanged(d))) event.preventDefault();
});

socket.on("open", async () => {
  const first = hello === null;
  hello = await socket.call<Hello>("hello");
  // After a break the server knows nothing of the texts.
  for (const document of editor.documents) if (!document.readOnly) send(document);
  known.clear();
  say("");
  void library.load(hello);
  if (!first) return;
  drawStart();
  document.title = hello.file?.split("/").pop() ?? hello.class ?? hello.folder?.split("/").pop() ?? "Saltus studio";
  if (hello.file) await open({ path: hello.file });
  else if (hello.class) await open({ class: hello.class });
});
socket.on("lost", () => say("The connection to the server is lost: trying again …", true));

frame();
editor.show(null);
socket.connect();
