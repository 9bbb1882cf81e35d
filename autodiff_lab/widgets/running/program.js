// A recorded program that runs again: from changed inputs, through every op in the order in which Python ran them, those
// of the derivative rules too.  It reads the payload of draw/running.py; the two files change together.  Pure: no DOM.

import { sizeOf } from "../basics.js";
import { NotHere, isFloat, rounded, roundingOf } from "./arrays.js";
import { compute, runSteps } from "./lowered.js";
import { fn } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */
/** @import { Lowered } from "./lowered.js" */
/** @typedef {{ op: string, what: string | any[] | Lowered, inputs: number[], outputs: number[], params: any, cause: number }} Run */
/** @typedef {{ values: (Arr | null)[], changed: Set<number>, missing: Map<string, string> }} Outcome by place; of what cannot be computed, why */
/** @typedef {{ place: number, how: string, where: string }} Read where the program itself looked at a value */

fn("same", (x) => x);

/** The program of a recording. */
export class Program {
  /** @param {any} payload */
  constructor(payload) {
    /** @type {Spec[]} */
    this.specs = payload.tensors.map((/** @type {any[]} */ [kind]) => ({ dtype: payload.kinds[kind][0], shape: payload.kinds[kind][1] }));
    /** @type {(Arr | null)[]} what was recorded of values that the page does not compute */
    this.recorded = payload.tensors.map((/** @type {any[]} */ row, /** @type {number} */ at) => (row.length > 1 ? elementsOf(this.specs[at], row[1]) : null));
    /** @type {Run[]} */
    this.runs = payload.runs.map((/** @type {any[]} */ [op, inputs, outputs, params = {}, cause = -1]) => ({
      op: payload.ops[op][0], what: payload.ops[op][1] ?? payload.ops[op][0], inputs, outputs, params, cause,
    }));
    /** @type {Map<number, Run>} */
    this.makers = new Map(this.runs.flatMap((run) => run.outputs.map((output) => [output, run])));
    /** @type {Map<number, Run[]>} what the rule of each application ran */
    this.rules = new Map();
    for (const run of this.runs) if (run.cause >= 0) this.rules.set(run.cause, [...(this.rules.get(run.cause) ?? []), run]);
    /** @type {Read[]} */
    this.reads = payload.reads.map((/** @type {any[]} */ [place, how, where]) => ({ place, how, where }));
    /** @type {number[]} contributions that no recorded op made */
    this.stale = payload.stale ?? [];
    /** @type {Outcome | null} */
    this.first = null;
  }

  /** As it was recorded, computed once. @returns {Outcome} */
  baseline() {
    return this.first ??= this.compute(new Map());
  }

  /**
   * Run it with some leaves changed; what does not depend on them stays as it was.
   * @param {Map<number, Arr>} changes by place
   * @returns {Outcome}
   */
  run(changes) {
    this.baseline();
    return this.compute(changes);
  }

  /** @param {Map<number, Arr>} changes @returns {Outcome} */
  compute(changes) {
    const values = this.recorded.map((value, at) => changes.get(at) ?? value);
    const changed = new Set(changes.keys());
    /** @type {Map<string, string>} */
    const missing = new Map();
    for (const place of this.first && changes.size ? this.stale : []) {
      values[place] = null;
      changed.add(place);
      missing.set("the backward pass", "its ops were not recorded");
    }
    for (const run of this.runs) {
      const touched = run.inputs.some((input) => changed.has(input));
      if (!touched && this.first) {
        for (const output of run.outputs) values[output] = this.first.values[output];
        continue;
      }
      if (!touched && run.outputs.every((output) => this.recorded[output])) continue;
      const made = this.apply(run, run.inputs.map((input) => values[input]), missing);
      run.outputs.forEach((output, at) => {
        values[output] = made[at];
        if (touched) changed.add(output);
      });
    }
    return { values, changed, missing };
  }

  /** @param {Run} run @param {(Arr | null)[]} ins @param {Map<string, string>} missing @returns {(Arr | null)[]} */
  apply(run, ins, missing) {
    const outs = run.outputs.map((output) => this.specs[output]);
    const nothing = outs.map(() => null);
    if (!known(ins)) return nothing;
    try {
      if (!isLowered(run.what)) return compute(run.what, ins, run.params, outs);
      return runSteps(run.what, ins).map(({ data }, at) => rounded(outs[at], data));
    } catch (error) {
      missing.set(run.op, error instanceof NotHere ? error.message : "its parameters are not known here");
      return nothing;
    }
  }

  /**
   * The derivative by which an op multiplies: what its rule makes of ones.
   * @param {number} application whose rule it is
   * @param {number} incoming @param {number} outgoing places of adjoints
   * @param {(Arr | null)[]} values
   * @returns {Arr | null}
   */
  local(application, incoming, outgoing, values) {
    const { shape } = this.specs[incoming];
    let end = outgoing;
    for (let maker = this.makers.get(end); String(this.specs[end].shape) !== String(shape); maker = this.makers.get(end)) {
      if (!maker || maker.cause !== application || !["sum", "reshape", "broadcast_to"].includes(maker.op)) return null;
      [end] = maker.inputs;
    }
    const ones = rounded(this.specs[incoming], new Float64Array(sizeOf(shape)).fill(1));
    const found = new Map([[incoming, ones]]);
    const value = (/** @type {number} */ place) => found.get(place) ?? values[place];
    for (const run of this.rules.get(application) ?? []) {
      if (!run.inputs.some((input) => found.has(input))) continue;
      this.apply(run, run.inputs.map(value), new Map()).forEach((made, at) => { if (made) found.set(run.outputs[at], made); });
    }
    return found.get(end) ?? null;
  }

  /** What the program looked at and what of it is not so any more. @param {Outcome} outcome @returns {(Read & { before: Arr, after: Arr | null })[]} */
  changedReads({ values, changed }) {
    const before = this.baseline().values;
    return this.reads.flatMap((read) => {
      const [old, now] = [before[read.place], values[read.place]];
      return changed.has(read.place) && old && !same(old, now, read.how) ? [{ ...read, before: old, after: now }] : [];
    });
  }
}

/** @param {string | any[] | Lowered} what @returns {what is Lowered} */
const isLowered = (what) => typeof what === "object" && "steps" in what;

/** @param {(Arr | null)[]} ins @returns {ins is Arr[]} */
const known = (ins) => ins.every((one) => one !== null && one !== undefined);

/** Whether a reader got the same answer. @param {Arr} old @param {Arr | null} now @param {string} how */
function same(old, now, how) {
  if (!now) return false;
  const answer = (/** @type {number} */ value) => (how === "bool" ? Number(Boolean(value)) : how === "int" ? Math.trunc(value) : value);
  return old.data.every((value, at) => Object.is(answer(value), answer(now.data[at])));
}

/** Elements from the payload: a list, or base64 of one, four or eight bytes for each. @param {Spec} spec @param {(number | string)[] | string} found @returns {Arr} */
function elementsOf(spec, found) {
  if (Array.isArray(found)) return { ...spec, data: Float64Array.from(found, (value) => Number(value === "inf" ? Infinity : value === "-inf" ? -Infinity : value)) };
  const bytes = Uint8Array.from(atob(found), (letter) => letter.charCodeAt(0));
  const width = bytes.length / sizeOf(spec.shape);
  const Numbers = width === 1 ? Uint8Array : width === 8 ? Float64Array : isFloat(spec.dtype) ? Float32Array : Int32Array;
  return { ...spec, data: Float64Array.from(new Numbers(bytes.buffer)) };
}

/** Numbers that someone typed, as the dtype holds them; null where they are none. @param {Spec} spec @param {ArrayLike<number>} numbers @returns {Arr | null} */
export function typed(spec, numbers) {
  try {
    roundingOf(spec.dtype);
    return rounded(spec, numbers);
  } catch {
    return null;
  }
}
