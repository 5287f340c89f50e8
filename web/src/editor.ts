// Texts in tabs, with squiggles where something is wrong.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { button, fill, h } from "./dom";
import { modelica } from "./modelica";
import type { ClassView, Message } from "./types";

export interface Document {
  path: string;
  /** Only to be looked at. */
  readOnly: boolean;
  state: EditorState;
  /** As it was opened or saved. */
  saved: string;
  classes: ClassView[];
  messages: Message[];
  /** The class that was asked for by name. */
  asked: string | null;
}

export interface EditorHost {
  changed(document: Document): void;
  shown(document: Document | null): void;
  run(): void;
  save(): void;
  closed(document: Document): void;
}

/** A line that was pointed at from elsewhere. */
const pointAt = StateEffect.define<number | null>();
const pointed = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(pointAt)) {
        return effect.value === null ? Decoration.none : Decoration.set(Decoration.line({ class: "pointed" }).range(effect.value));
      }
    }
    return transaction.docChanged ? Decoration.none : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Open texts" });
  readonly element = h("div", { class: "editor" });
  private view: EditorView;
  documents: Document[] = [];
  active: Document | null = null;

  constructor(private readonly host: EditorHost) {
    this.view = new EditorView({ parent: this.element, state: this.state("", true) });
    // Long texts are moved with the keyboard, too.
    this.view.scrollDOM.tabIndex = 0;
    this.element.hidden = true;
  }

  private state(text: string, readOnly: boolean): EditorState {
    const own = Prec.highest(keymap.of([
      { key: "Mod-Enter", run: () => (this.host.run(), true) },
      { key: "Mod-s", run: () => (this.host.save(), true) },
    ]));
    return EditorState.create({
      doc: text,
      extensions: [
        own, lineNumbers(), foldGutter(), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion(), highlightActiveLine(),
        highlightSelectionMatches(), lintGutter(), pointed, modelica(), indentUnit.of("  "), EditorState.tabSize.of(2),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
        EditorState.readOnly.of(readOnly),
        EditorView.contentAttributes.of({ "aria-label": "Modelica text", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (!this.active) return;
          this.active.state = update.state;
          if (update.docChanged) {
            this.host.changed(this.active);
            this.drawTabs();
          }
        }),
      ],
    });
  }

  open(path: string, text: string, readOnly: boolean, asked: string | null = null): Document {
    let document = this.find(path);
    if (!document) {
      document = { path, readOnly, state: this.state(text, readOnly), saved: text, classes: [], messages: [], asked };
      this.documents.push(document);
    }
    document.asked = asked ?? document.asked;
    this.show(document);
    return document;
  }

  find(path: string): Document | undefined {
    return this.documents.find((document) => document.path === path);
  }

  show(document: Document | null) {
    this.active = document;
    this.element.hidden = !document;
    if (document) {
      this.view.setState(document.state);
      this.lint(document);
    }
    this.drawTabs();
    this.host.shown(document);
  }

  text(document: Document): string {
    return document.state.doc.toString();
  }

  isChanged(document: Document): boolean {
    return this.text(document) !== document.saved;
  }

  close(document: Document) {
    const at = this.documents.indexOf(document);
    this.documents.splice(at, 1);
    this.host.closed(document);
    if (this.active === document) this.show(this.documents[Math.max(0, at - 1)] ?? null);
    else this.drawTabs();
  }

  rename(document: Document, path: string) {
    document.path = path;
    this.drawTabs();
  }

  drawTabs() {
    fill(this.tabs, this.documents.map((document) => {
      const name = document.asked?.split(".").pop() ?? document.path.split("/").pop() ?? document.path;
      const active = document === this.active;
      const changed = !document.readOnly && this.isChanged(document);
      return h("div", { class: `tab${active ? " active" : ""}`, title: document.path },
        h("button", { type: "button", "aria-pressed": active ? "true" : "false", onclick: () => this.show(document) },
          `${name}${changed ? " •" : ""}`, document.readOnly && h("small", {}, " read only")),
        button("×", `Close ${name}`, () => this.close(document), { class: "quiet", "aria-label": `Close ${name}` }));
    }));
    this.tabs.querySelector(".active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Messages of a text, as squiggles. */
  setMessages(document: Document, messages: Message[]) {
    document.messages = messages;
    if (document === this.active) this.lint(document);
  }

  private lint(document: Document) {
    const { doc } = document.state;
    const found = document.messages
      .filter((message) => message.place?.file === document.path)
      .map((message): Diagnostic => {
        const from = offset(doc, message.place!.from);
        return {
          from,
          to: Math.max(offset(doc, message.place!.to), Math.min(from + 1, doc.length)),
          severity: message.severity === "note" ? "info" : message.severity,
          message: message.message,
          source: message.code,
          renderMessage: () => messageBody(message),
          actions: cureOf(message) === null ? [] : [{ name: `write ${cureOf(message)}`, apply: () => this.cure(message, cureOf(message)!) }],
        };
      });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  /** Writes what a message proposes in the place of what it is about. */
  cure(message: Message, text: string) {
    const { place } = message;
    if (!place || !this.active || this.active.readOnly) return;
    const { doc } = this.view.state;
    this.view.dispatch({ changes: { from: offset(doc, place.from), to: offset(doc, place.to), insert: text } });
    this.view.focus();
  }

  /** Shows a line and marks it. */
  goTo(line: number, column = 1, focus = true) {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(1, line), doc.lines));
    const anchor = Math.min(at.from + column - 1, at.to);
    this.view.dispatch({
      selection: { anchor },
      effects: [EditorView.scrollIntoView(anchor, { y: "center" }), pointAt.of(at.from)],
    });
    if (focus) this.view.focus();
  }

  get line(): number {
    const { state } = this.view;
    return state.doc.lineAt(state.selection.main.head).number;
  }

  focus() {
    this.view.focus();
  }
}

/** Columns count characters; the editor counts UTF-16 units. */
function offset(doc: Text, [line, column]: [number, number]): number {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  let units = 0;
  let left = column - 1;
  for (const character of at.text) {
    if (left-- <= 0) break;
    units += character.length;
  }
  return at.from + units;
}

/** The name that a message proposes, if it proposes one. */
export function cureOf(message: Message): string | null {
  return /did you mean `([^`]+)`/.exec(message.help ?? "")?.[1] ?? null;
}

export function messageBody(message: Message): HTMLElement {
  return h("div", { class: "message" },
    h("div", {}, message.message),
    message.place?.label && h("div", { class: "label" }, message.place.label),
    ...message.notes.map((note) => h("div", { class: "note" }, note)),
    message.help && h("div", { class: "help" }, h("b", {}, "help "), message.help),
    h("code", {}, message.code));
}
