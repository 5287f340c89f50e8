// What the server says: the fields of docs/internals/studio.md.

export interface Place { file: string; from: [number, number]; to: [number, number]; label: string }
export interface Message {
  code: string;
  severity: "error" | "warning" | "note";
  message: string;
  place: Place | null;
  others: Place[];
  notes: string[];
  help: string | null;
}
export interface ClassView {
  name: string; qualified: string; restriction: string; description: string; partial: boolean;
  has_classes: boolean; is_model: boolean; has_experiment: boolean; file: string; lines: [number, number];
}
export type Scalar = number | boolean | string;
export interface Variable {
  name: string; description: string; unit: string; displayUnit: string;
  kind: "constant" | "parameter" | "discrete" | "continuous";
  type: "Real" | "Integer" | "Boolean" | "enumeration" | "String";
  min: number | null; max: number | null; value: Scalar | null; literals: string[];
  settable: boolean; structural: string | null;
}
export interface Cause { expression: string; file: string; line: number; value_left: number | null; value_right: number | null }
export interface EventRecord {
  time: number; kind: string; method: string; cause: Cause[];
  changed: { variable: string; before: number | null; after: number | null }[];
  impulses: { variable: string; value: number }[];
  iterations: number; evaluations: number; mode: number;
}
export interface StartModel {
  name: string; title: string; teaser: string; text?: string; class?: string; plotted: string[]; sliders: string[];
}
export interface Hello {
  version: string; folder: string | null; file: string | null; class: string | null;
  files: { path: string; name: string }[]; start: StartModel[];
}
export interface RunResult {
  run: number; rows: number; names: string[]; constants: Record<string, number>;
  model: number; class: string; variables: Variable[] | null;
  experiment: { start: number; stop: number; tolerance: number };
  span: [number, number]; events: EventRecord[]; eventCount: number;
  statistics: Record<string, any>; warnings: Message[]; failure: Message[] | null; terminated: string | null;
  columns: Float64Array[];
}
