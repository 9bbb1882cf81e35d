// What somebody changed in the inputs of a recording, and everything that follows from it, put where the explorer reads
// its values: into the decoded scene, so that every view shows the new numbers and stepping goes on as before.

import { typed } from "./program.js";
import { describe } from "./wording.js";

/** @import { Scene, Step, Tensor, Value } from "../explorer/scene.js" */
/** @import { Arr } from "./arrays.js" */
/** @import { Outcome, Program } from "./program.js" */
/** @typedef {{ holder: any, key: string | number, place: number, recorded: Value }} Slot a place in the scene that shows a value */

/** The changes of one view, and where they are shown. */
export class Changes {
  /** @param {Scene} scene @param {any} payload of draw/running.py @param {Program | null} program */
  constructor(scene, payload, program) {
    this.scene = scene;
    this.program = program;
    /** @type {string} why nothing can be changed; empty if something can */
    this.off = payload?.off ?? (program ? "" : "This recording came without its program.");
    this.payload = payload;
    /** @type {Map<number, Arr>} by the number of the tensor */
    this.made = new Map();
    /** @type {Outcome | null} */
    this.outcome = null;
    /** @type {Slot[]} */
    this.slots = [];
  }

  /** Whether an input can be changed: a number that no op made, and that is not written in the program. @param {Tensor | undefined} tensor */
  canChange(tensor) {
    if (!this.program || !tensor || tensor.application >= 0 || tensor.kind === "gradient") return false;
    const found = this.program.recorded[tensor.number];
    const literal = !tensor.named && !Number.isNaN(Number(tensor.name.replace("−", "-")));
    return Boolean(found?.data.length) && !literal && this.program.specs[tensor.number].dtype !== "bool";
  }

  /** What a tensor holds now. @param {number} number @returns {Arr | null} */
  current(number) {
    const { program } = this;
    return this.made.get(number) ?? this.outcome?.values[number] ?? program?.recorded[number] ?? null;
  }

  /** What was recorded of an input. @param {number} number */
  recordedOf(number) {
    return this.program?.recorded[number] ?? null;
  }

  /**
   * Put other numbers into an input; the same ones as recorded undo its change.
   * @param {number} number @param {ArrayLike<number>} numbers
   * @returns {boolean} whether they fit the dtype
   */
  set(number, numbers) {
    const recorded = this.recordedOf(number);
    const next = recorded && this.program ? typed(this.program.specs[number], numbers) : null;
    if (!recorded || !next) return false;
    if (next.data.every((value, at) => Object.is(value, recorded.data[at]))) this.made.delete(number);
    else this.made.set(number, next);
    this.follow();
    return true;
  }

  /** Back to what was recorded. */
  reset() {
    this.made.clear();
    this.follow();
  }

  /** Compute all that depends on the changes, and show it. */
  follow() {
    if (!this.program) return;
    if (!this.slots.length) this.slots = slotsOf(this.scene, this.payload);
    this.outcome = this.made.size ? this.program.run(this.made) : null;
    /** @type {Map<number, Value>} */
    const told = new Map();
    for (const slot of this.slots) slot.holder[slot.key] = this.valueAt(slot, told);
  }

  /** @param {Slot} slot @param {Map<number, Value>} told @returns {Value} */
  valueAt({ place, recorded }, told) {
    const { outcome, program } = this;
    if (!outcome || !program || !outcome.changed.has(place)) return recorded;
    const value = told.get(place) ?? describe(outcome.values[place], program.specs[place], !program.makers.has(place));
    told.set(place, value);
    return value;
  }

  /** The derivatives by which the current step multiplies are computed when it is shown. @param {Step | null} step */
  prepare(step) {
    const { outcome, program } = this;
    if (!step || step.sweep < 0 || !program) return;
    const [incoming, flows, application] = this.payload.steps[this.scene.steps.indexOf(step)] ?? [];
    step.flows.forEach((flow, at) => {
      const slot = LOCALS.get(flow) ?? flow.local;
      LOCALS.set(flow, slot);
      if (!slot || !incoming) return;
      const [outgoing] = flows[at];
      const from = incoming.find((/** @type {number} */ place) => place >= 0);
      const changed = outcome?.changed.has(outgoing) ? outcome.values[outgoing] : null;
      const local = changed && outcome ? program.local(application, from, outgoing, outcome.values) : null;
      flow.local = changed ? describe(local, program.specs[from], false) : slot;
    });
  }

  /** What a reader should know about the numbers on the page; nothing while they are those of the recording. @returns {string[]} */
  remarks() {
    const { outcome, program } = this;
    if (!outcome || !program) return [];
    const reads = program.changedReads(outcome).map((read) => {
      const [was, now] = [read.before, read.after].map((x, at) => (x ? describe(x, program.specs[read.place], false).short : at ? "unknown" : ""));
      const what = this.scene.tensors.get(read.place)?.name ?? "";
      return `${read.where ? `${read.where}: ` : ""}${asked(read.how, what)} ${was}, now ${now}: Python might have gone another way.`;
    });
    const missing = [...outcome.missing].map(([op, why]) => `${op} is not computed in the page: ${why}. What depends on it is shown as ?.`);
    return [...new Set([...reads, ...missing])];
  }
}

/** @type {WeakMap<object, Value | null>} the recorded derivative of each flow */
const LOCALS = new WeakMap();

/** @param {string} how @param {string} what */
function asked(how, what) {
  if (how === "bool") return `the program asked whether ${what} is true; it was`;
  if (!how) return `a function looked at the value of ${what}, which was`;
  return `the program took ${what} as a Python value (${how}); it was`;
}

/** Every place of the scene that shows a value which the program computes. @param {Scene} scene @param {any} payload @returns {Slot[]} */
function slotsOf(scene, payload) {
  /** @type {Slot[]} */
  const slots = [];
  const add = (/** @type {any} */ holder, /** @type {string | number} */ key, /** @type {number} */ place) => {
    if (holder[key] && place >= 0) slots.push({ holder, key, place, recorded: holder[key] });
  };
  const all = (/** @type {any} */ holder, /** @type {number[]} */ places) => places.forEach((place, at) => add(holder, at, place));
  for (const tensor of scene.tensors.values()) add(tensor, "value", tensor.number);
  scene.steps.forEach((step, at) => {
    const [incoming = [], flows = []] = payload.steps[at];
    all(step.incoming, incoming);
    flows.forEach((/** @type {[number, number]} */ [outgoing, total], /** @type {number} */ k) => {
      add(step.flows[k], "outgoing", outgoing);
      add(step.flows[k], "total", total);
    });
  });
  scene.sweeps.forEach((sweep, at) => {
    const [seeds, results] = payload.sweeps[at];
    all(sweep.seeds, seeds);
    all(sweep.results, results);
  });
  return slots;
}
