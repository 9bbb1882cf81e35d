// The state of one view of the explorer, and how it answers: moving points, zooming, finer samples.  No DOM here.

import { after, decode, finerGrid, interpolate, nearest, reading, within } from "./samples.js";
import { walkSentence } from "./sentences.js";
import { follow, heights, logHeights, magnification, microscope, whole, zoom, pan } from "../plotting/view.js";

/** @typedef {import("./samples.js").Samples} Samples */
/** @typedef {import("./samples.js").Reading} Reading */

/**
 * What Python says about the function; the samples themselves travel as bytes.
 * @typedef {{
 *   name: string, names: string[], variable: string, title: string, notes: string[], marks: import("./samples.js").Mark[],
 *   lo: number, hi: number, narrowest: number, clip: boolean, live: boolean, nones?: [number, number][][],
 * }} Facts
 *
 * @typedef {{ id: number, lo: number, hi: number, n: number }} Request
 */

/** Steps of a method, from the points it left, and a sentence about the last one. @typedef {{ kind: "newton" | "descent", from: Reading[], told: string }} Walk */

export class State {
  /**
   * @param {Facts} facts
   * @param {DataView | ArrayBuffer} bytes
   * @param {{ x: number, other: number, order: number, secant: boolean }} start
   */
  constructor(facts, bytes, start) {
    this.facts = facts;
    this.base = this.samples = decode(bytes, facts.names.length);
    this.view = whole(facts);
    this.fit = false;
    this.log = false;
    this.traced = false;
    /** @type {Reading[]} */
    this.trace = [];
    /** @type {Walk} */
    this.walk = { kind: "newton", from: [], told: "" };
    this.rate = 0.1;
    this.home = { lo: facts.lo, hi: facts.hi };
    /** @type {{ lo: number, hi: number } | null} an interval that Python is to sample again */
    this.wanted = null;
    this.order = Math.min(start.order, facts.names.length - 1);
    this.secant = start.secant;
    this.point = this.read(start.x);
    this.other = this.read(start.other);
    /** @type {Request | null} */
    this.request = null;
    this.requests = 0;
    this.problem = "";
    this.full = this.base.rows.map((row, k) => heights(row, { zero: k > 0, clip: facts.clip }));
  }

  /** Take other samples: of another interval, or of the function with other parameters. @param {Facts} facts @param {DataView} bytes */
  rebase(facts, bytes) {
    const [point, other] = [this.point.x, this.other.x];
    this.facts = facts;
    this.base = this.samples = decode(bytes, facts.names.length);
    this.full = this.base.rows.map((row, k) => heights(row, { zero: k > 0, clip: facts.clip }));
    this.view = whole(facts);
    this.request = null;
    this.problem = "";
    this.trace = [];
    this.rest();
    [this.point, this.other] = [this.read(point), this.read(other)];
  }

  /** @param {number} x @returns {Reading} */
  read(x) {
    return reading(this.samples, nearest(this.samples.x, x));
  }

  /** Distance of neighbouring samples where we look. */
  get step() {
    const { x } = this.samples;
    const right = Math.min(Math.max(after(x, this.view.anchor), 1), x.length - 1);
    return x[right] - x[right - 1];
  }

  /** The smallest difference of x that matters in texts. */
  get grain() {
    return this.step / 10;
  }

  /** Ranges of the panels: the microscope's, or with `fit` whatever shows all that is in view. */
  get ranges() {
    const visible = within(this.samples, this.view.lo, this.view.hi);
    const centre = reading(visible, nearest(visible.x, this.view.anchor)).values[0];
    const magnified = magnification(this.view, this.facts);
    return this.full.map((range, row) => {
      if (this.log) return logHeights(visible.rows[row]);
      if (this.fit) return this.holding(heights(visible.rows[row], { zero: row > 0, clip: this.facts.clip }), row);
      return this.holding(row === 0 ? microscope(range, magnified, centre) : range, row);
    });
  }

  /** The range, widened if needed so that the point is well inside; a microscope keeps its height. @param {import("../plotting/view.js").Range} range @param {number} row */
  holding(range, row) {
    const value = this.point.values[row];
    const inView = this.point.x >= this.view.lo && this.point.x <= this.view.hi;
    if (!inView || !Number.isFinite(value) || (value >= range.lo && value <= range.hi)) return range;
    const margin = 0.08 * (Math.max(range.hi, value) - Math.min(range.lo, value));
    return { lo: Math.min(range.lo, value - margin), hi: Math.max(range.hi, value + margin) };
  }

  /** The mark on which the point sits. */
  get markHere() {
    return this.facts.marks.find(mark => mark.x === this.point.x);
  }

  /** How many samples are in view. */
  get count() {
    return after(this.samples.x, this.view.hi + this.step / 2) - after(this.samples.x, this.view.lo);
  }

  /**
   * Put a handle on the sample nearest to x.
   * @param {"point" | "other"} name
   * @param {number} x
   */
  place(name, x) {
    this.rest();
    this[name] = this.read(x);
    this.leaveTrace(name);
  }

  /** Forget the steps taken: the point goes elsewhere. */
  rest() {
    this.walk = { ...this.walk, from: [], told: "" };
  }

  /**
   * A step of Newton's method, to where the tangent meets 0, or of gradient descent. Between samples the values there
   * are interpolated, since the next step needs this very x.
   * @param {Walk["kind"]} kind
   */
  stepOn(kind) {
    const { point, facts } = this;
    const [value, slope] = point.values;
    const x = point.x - (kind === "newton" ? value / slope : this.rate * slope);
    const inside = x >= facts.lo && x <= facts.hi;
    const from = this.walk.kind === kind ? this.walk.from : [];
    this.walk = { kind, told: walkSentence(kind, from.length + 1, x, inside, this.rate), from: inside ? [...from, point] : from };
    if (!inside) return;
    const near = this.read(x);
    const there = interpolate(this.samples, { lo: x, hi: x + this.step, n: 2 }, facts.marks);
    this.point = near.x === x ? near : reading(there, 0);
    this.leaveTrace("point");
    this.lookAt(follow(this.view, x, facts));
  }

  /** Remember where the point has been. @param {"point" | "other"} name */
  leaveTrace(name) {
    if (this.traced && name === "point" && !this.trace.some(({ x }) => x === this.point.x)) this.trace.push(this.point);
  }

  /** @param {boolean} on */
  setTraced(on) {
    this.traced = on;
    this.trace = on ? [this.point] : [];
    if (on) this.order = Math.max(this.order, Math.min(1, this.facts.names.length - 1));
  }

  /**
   * Move a handle by samples, the view following it.
   * @param {"point" | "other"} name
   * @param {number} by
   */
  stepBy(name, by) {
    this.rest();
    const { x } = this.samples;
    const here = this[name].x;
    let index = nearest(x, here);
    // A handle that lies between the samples (after zooming out) goes to the next one in the direction pressed.
    if (x[index] !== here && by !== 0) index = by > 0 ? after(x, here) - 1 : after(x, here);
    this[name] = reading(this.samples, Math.min(Math.max(index + by, 0), x.length - 1));
    this.leaveTrace(name);
    this.lookAt(follow(this.view, this[name].x, this.facts));
  }

  /** @param {"point" | "other"} name @param {0 | 1} side */
  toEnd(name, side) {
    this.rest();
    this[name] = reading(this.base, side ? this.base.x.length - 1 : 0);
    this.lookAt(follow(this.view, this[name].x, this.facts));
  }

  /** @param {number} factor @param {number} [at] */
  zoom(factor, at) {
    if (factor < 1 && magnification(this.view, this.facts) <= 1) {
      this.widen(1 / factor);
      return;
    }
    const inView = this.point.x >= this.view.lo && this.point.x <= this.view.hi;
    const middle = inView ? this.point.x : (this.view.lo + this.view.hi) / 2;
    this.lookAt(zoom(this.view, factor, at ?? middle, this.facts, at === undefined));
  }

  /** @param {number} share */
  pan(share) {
    this.lookAt(pan(this.view, share, this.facts));
  }

  /** Ask for a wider interval than there are samples of, around the same middle. @param {number} factor */
  widen(factor) {
    const { lo, hi } = this.wanted ?? this.facts;
    const [middle, half] = [(lo + hi) / 2, ((hi - lo) / 2) * factor];
    const wider = { lo: middle - half, hi: middle + half };
    if (this.facts.live && half < 1e100) this.wanted = wider;
  }

  reset() {
    if (this.facts.live && (this.facts.lo !== this.home.lo || this.facts.hi !== this.home.hi)) this.wanted = this.home;
    this.lookAt(whole(this.facts));
  }

  /** @param {import("../plotting/view.js").View} view */
  lookAt(view) {
    this.view = view;
    const grid = finerGrid(this.base, view);
    if (!grid) {
      this.samples = this.base;
      this.request = null;
    } else if (!this.covers(grid)) {
      this.samples = interpolate(this.base, grid, this.facts.marks);
      this.request = this.facts.live && !this.problem ? { id: (this.requests += 1), ...grid } : null;
    }
  }

  /**
   * Whether the samples at hand are fine enough for this grid and reach over the whole view.
   * @param {{ step: number }} grid
   */
  covers({ step }) {
    const { x } = this.samples;
    if (this.samples === this.base || x.length < 2) return false;
    const have = x[1] - x[0];
    const reaches = x[0] <= this.view.lo && x[x.length - 1] >= this.view.hi;
    return reaches && Math.abs(have / step - 1) < 1e-3;
  }

  /**
   * Take what the kernel answered.  Only the newest question counts; its answer is welcome even after we gave up, for
   * a kernel that was busy is none that is gone.
   * @param {{ id: number, error?: string }} answer
   * @param {DataView | undefined} bytes
   * @returns {boolean} whether anything changed
   */
  receive(answer, bytes) {
    if (answer.id !== this.requests) return false;
    this.request = null;
    this.problem = answer.error ?? (bytes ? "" : "the kernel sent no samples");
    if (bytes && !this.problem) this.takeSamples(decode(bytes, this.facts.names.length));
    return true;
  }

  /** @param {Samples} samples */
  takeSamples(samples) {
    this.samples = samples;
    this.lookAt(this.view); // we may have moved on meanwhile, and then ask again
    if (this.samples !== samples) return;
    for (const name of /** @type {("point" | "other")[]} */ (["point", "other"])) {
      const better = this.read(this[name].x);
      if (this[name].interpolated && Math.abs(better.x - this[name].x) < this.step / 2) this[name] = better;
    }
  }

  /** Nobody answered: stay with interpolated samples, and do not ask again. */
  giveUp() {
    this.request = null;
    this.problem = "no kernel answers";
  }
}
