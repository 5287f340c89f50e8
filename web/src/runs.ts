// The runs of the page: what was computed with which settings, and the columns that are here.

import type { EventRecord, RunResult, Scalar, Variable } from "./types";
import { joined, valueAt } from "./series";

export type Settings = Map<string, Scalar>;

export class Run {
  readonly time: Float64Array;
  readonly columns = new Map<string, Float64Array>();
  readonly constants = new Map<string, number>();
  /** Kept when another run comes. */
  pinned = false;
  /** Shown pale: the run before, or one of a sweep. */
  role: "current" | "ghost" | "pinned" | "sweep" = "current";
  /** Of a sweep, from 0 to 1. */
  shade = 0;
  label = "";

  constructor(readonly result: RunResult, readonly settings: Settings) {
    this.time = result.columns[0];
    this.add(result);
  }

  get events(): EventRecord[] {
    return this.result.events;
  }

  add(part: { names: string[]; columns: Float64Array[]; constants: Record<string, number> }) {
    part.names.forEach((name, k) => this.columns.set(name, part.columns[k + 1]));
    for (const [name, value] of Object.entries(part.constants)) this.constants.set(name, value);
  }

  has(name: string): boolean {
    return this.columns.has(name) || this.constants.has(name);
  }

  /** The values of a variable at all rows; a constant has two rows. */
  trace(name: string): { time: Float64Array; values: Float64Array } | null {
    const values = this.columns.get(name);
    if (values) return { time: this.time, values };
    const constant = this.constants.get(name);
    if (constant === undefined || this.time.length === 0) return null;
    return { time: Float64Array.of(this.time[0], this.time[this.time.length - 1]), values: Float64Array.of(constant, constant) };
  }

  at(name: string, time: number): [number, number] | null {
    const trace = this.trace(name);
    return trace && valueAt(trace.time, trace.values, time);
  }
}

/** Rows of a run that is under way. */
export class Stream {
  private parts: Float64Array[][] = [];
  names: string[] = [];

  take(message: { names: string[]; columns: Float64Array[] }) {
    this.names = message.names;
    message.columns.forEach((column, k) => (this.parts[k] ??= []).push(column));
  }

  /** What there is so far. */
  run(): Run {
    const columns = this.parts.map((parts, k) => (this.parts[k] = [joined(parts)])[0]);
    const rows = columns[0].length;
    const result = {
      run: 0, rows, names: this.names, constants: {}, model: 0, class: "", variables: null,
      experiment: { start: 0, stop: 0, tolerance: 0 }, span: [columns[0][0], columns[0][rows - 1]] as [number, number],
      events: [], eventCount: 0, statistics: {}, warnings: [], failure: null, terminated: null, columns,
    };
    return new Run(result, new Map());
  }
}

export type VariableMap = Map<string, Variable>;
