// The sketch pad: a curve above, an empty panel below.  Drag the point along the curve, draw its derivative with the pen
// or with nine handles, and lay the derivative over the sketch.

import { drawing } from "../dom.js";
import { attend, listenToTraits, makeHint, watchSize } from "../host.js";
import { short } from "../numbers.js";
import { share, valueAt } from "../plotting/axes.js";
import { add, addButton, make } from "../plotting/elements.js";
import { listenToPlotKeys, listenToPointer } from "../plotting/gestures.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { heights } from "../plotting/view.js";
import { savePicture } from "./saving.js";
import {
  COLUMNS, ENOUGH, halfBand, HANDLES, handlesOf, inWords, judge, position, said, shown, signsOf, stroked, through, xOf, zerosOf,
} from "./scoring.js";

/** @typedef {import("./scoring.js").Facts} Facts */
/** @typedef {import("./scoring.js").Heights} Heights */
/** @typedef {import("../plotting/layers.js").Layer} Layer */
/** @typedef {import("../plotting/layers.js").Area} Area */
/**
 * @typedef {{ dealt: Facts[], at: number, row: number, order: number, x: number, sketches: Record<string, Heights>,
 *   revealed: string[], trace: boolean, reveals: boolean, daily: boolean, best: number, ideas: Record<string, string>,
 *   wants_focus: boolean }} Traits
 */

const TRAITS = /** @type {const} */ (["at", "row", "x", "sketches", "revealed", "trace", "best"]);
const MARGIN = { left: 56, right: 24, top: 28, between: 52, bottom: 48 };
const [UPPER, LOWER] = [190, 230];
const DAY = 86_400_000;
const STRIP = 8;
const OFTEN = 120; // milliseconds

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const view = new PadView(model, make(el, "div", "autodiff-lab lab-plotting lab-sketch-pad"), stop.signal);
  return () => {
    stop.abort();
    view.leave();
  };
}

class PadView {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    this.model = model;
    this.handle = -1; // the handle that keys move; none while the pen is used
    this.told = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined; // a pen moves often: the kernel hears of it several times a second, and not each time
    /** @type {Partial<Traits>} */
    this.pending = {}; // what it has not heard of; in the model, its answers to earlier strokes would undo later ones
    /** @type {Map<string, Set<number>>} */
    this.traces = new Map();
    this.title = make(root, "div", "head");
    const row = make(root, "div", "controls");
    this.show = addButton(row, "", "Lay the derivative over the sketch (Enter)", () => this.reveal(), stop);
    this.clear = addButton(row, "clear", "Begin again (Backspace)", () => this.draw([]), stop);
    this.next = addButton(row, "", "Go on (N)", () => this.goOn(), stop);
    this.save = addButton(row, "save as picture", "Save the sketch over the derivative as an SVG file", () => savePicture(this.svg, this.title.textContent ?? "", this.said.textContent ?? ""), stop);
    this.count = make(row, "span");
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot pad", tabindex: 0, role: "application" }));
    this.said = make(root, "p", "sentence");
    this.said.setAttribute("aria-live", "polite");
    this.words = make(root, "p", "sentence words");
    const keys = make(root, "p", "keys", "Above, drag the point along the curve, or move it with the keys “,” and “.” (comma and full stop). Below, draw with the pen, or choose one of nine handles with ← → and move it with ↑ ↓, finely with Shift. ");
    keys.append(makeHint("→"));
    listenToPointer(this.svg, { take: (_, y) => this.take(y) }, stop);
    listenToPlotKeys(root, event => this.action(event), stop);
    if (model.get("daily") && !model.get("revealed").length) model.set("at", Math.floor(Date.now() / DAY) % model.get("dealt").length);
    this.areas = this.measured();
    listenToTraits(model, TRAITS, () => this.paint(), stop);
    watchSize(root, () => this.paint(), stop);
    attend(model, root, this.svg, stop);
    this.paint();
  }

  leave() {
    if (this.waiting !== undefined) this.saveNow();
  }

  get facts() {
    return this.get("dealt")[this.get("at")];
  }

  get row() {
    return this.get("row");
  }

  get key() {
    return `${this.get("at")}.${this.row}`;
  }

  /** @returns {Heights} */
  get sketch() {
    return this.get("sketches")[this.key] ?? Array(COLUMNS).fill(null);
  }

  get isShown() {
    return this.get("revealed").includes(this.key);
  }

  get isDrawn() {
    return this.sketch.filter(height => height !== null).length >= ENOUGH * COLUMNS;
  }

  /** Whether the point may leave its slope in the lower panel. */
  get isTracing() {
    return this.get("trace") || this.isShown;
  }

  get name() {
    return this.facts.names[this.row];
  }

  /** Column of the point. */
  get column() {
    const { lo, hi } = this.facts;
    return Math.min(Math.max(Math.round(((this.get("x") - lo) / (hi - lo)) * (COLUMNS - 1)), 0), COLUMNS - 1);
  }

  /** A trait, as it was set last in the page. @template {keyof Traits} Name @param {Name} name @returns {Traits[Name]} */
  get(name) {
    return /** @type {any} */ (this.pending[name] ?? this.model.get(name));
  }

  /** Set traits, and send them at once or soon. @param {Partial<Traits>} values @param {boolean} [soon] */
  set(values, soon = false) {
    Object.assign(this.pending, values);
    if (!soon) this.saveNow();
    else if (this.waiting === undefined) this.waiting = setTimeout(() => this.saveNow(), OFTEN);
    this.paint();
  }

  saveNow() {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    const kept = Object.entries(this.pending);
    this.pending = {};
    for (const [name, value] of kept) this.model.set(/** @type {any} */ (name), value);
    this.model.save_changes();
  }

  /** Replace the sketch, unless the derivative is shown already. @param {Heights} heights */
  draw(heights) {
    if (this.isShown) return;
    const top = this.facts.reach[this.row];
    const kept = heights.map(height => (height === null ? null : Number(Math.min(Math.max(height, -top), top).toFixed(6))));
    const sketches = { ...this.get("sketches") };
    if (kept.length) sketches[this.key] = kept;
    else {
      delete sketches[this.key];
      this.handle = -1;
    }
    this.told = "";
    this.set({ sketches }, true);
  }

  reveal() {
    if (this.isShown || !this.get("reveals")) return;
    if (!this.isDrawn) {
      const part = Math.floor((100 * this.sketch.filter(height => height !== null).length) / COLUMNS);
      this.told = `Draw over the whole width first; ${part ? `${part} % is drawn` : "nothing is drawn yet"}.`;
      this.paint();
      return;
    }
    this.handle = -1;
    this.told = "";
    this.set({ revealed: [...this.get("revealed"), this.key] });
  }

  get canGoOn() {
    const { row } = this;
    return (row < this.get("order") && this.isShown) || this.get("dealt").length > 1;
  }

  /** To the next derivative of the function, else to the next function. */
  goOn() {
    if (!this.canGoOn) return;
    const { row } = this;
    this.handle = -1;
    this.told = "";
    if (row < this.get("order") && this.isShown) this.set({ row: row + 1 });
    else this.set({ at: (this.get("at") + 1) % this.get("dealt").length, row: 1 });
    const { lo, hi } = this.facts;
    if (this.get("x") < lo || this.get("x") > hi) this.set({ x: lo + (hi - lo) / 4 });
  }

  /** @param {number} column */
  moveTo(column) {
    const [from, to] = [this.column, Math.min(Math.max(Math.round(column), 0), COLUMNS - 1)];
    const trace = this.traces.get(this.key) ?? new Set();
    for (let k = Math.min(from, to); k <= Math.max(from, to); k += 1) trace.add(k);
    if (this.isTracing) this.traces.set(this.key, trace);
    this.told = "";
    this.set({ x: xOf(this.facts, to) }, true);
  }

  /** What a press begins: in the upper panel it moves the point, in the lower one it draws. @param {number} y in pixels */
  take(y) {
    const { upper, lower } = this.areas;
    const columnOf = (/** @type {number} */ x) => Math.min(Math.max((x - lower.left) / lower.width, 0), 1) * (COLUMNS - 1);
    if (y < upper.top + upper.height + MARGIN.between / 2) return (/** @type {number} */ x) => this.moveTo(columnOf(x));
    if (this.isShown) return null;
    /** @type {[number, number] | null} */
    let last = null;
    this.handle = -1;
    return (/** @type {number} */ x, /** @type {number} */ down) => {
      const now = /** @type {[number, number]} */ ([columnOf(x), valueAt(lower.y, 1 - (down - lower.top) / lower.height)]);
      this.draw(stroked(this.sketch, last ?? now, now));
      last = now;
    };
  }

  /** @param {number} by how many handles to go on; keys draw with handles, and a line drawn by pen is taken over */
  choose(by) {
    if (this.isShown) return;
    this.handle = this.handle < 0 ? (by < 0 ? HANDLES - 1 : 0) : Math.min(Math.max(this.handle + by, 0), HANDLES - 1);
    this.draw(through(handlesOf(this.sketch)));
    this.tellHandle();
  }

  /** @param {number} part of the panel's height above 0 */
  lift(part) {
    if (this.isShown) return;
    if (this.handle < 0) this.handle = 0;
    const given = handlesOf(this.sketch);
    const top = this.facts.reach[this.row];
    given[this.handle] = Math.min(Math.max(Number((given[this.handle] + part * top).toFixed(6)), -top), top);
    this.draw(through(given));
    this.tellHandle();
  }

  tellHandle() {
    const column = (this.handle * (COLUMNS - 1)) / (HANDLES - 1);
    const height = short(this.sketch[column] ?? 0, 3);
    this.told = `Handle ${this.handle + 1} of ${HANDLES}, at ${this.facts.variable} = ${position(this.facts, xOf(this.facts, column))}: height ${height}.`;
    this.said.textContent = this.told;
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("button") && [" ", "Enter"].includes(event.key)) return null;
    const part = event.shiftKey ? 0.01 : 0.05;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.choose(-1), ArrowRight: () => this.choose(1), ArrowUp: () => this.lift(part), ArrowDown: () => this.lift(-part),
      ",": () => this.moveTo(this.column - 2), ".": () => this.moveTo(this.column + 2),
      Enter: () => this.reveal(), Backspace: () => this.draw([]), n: () => this.goOn(),
    };
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  /** @returns {{ upper: Area, lower: Area }} */
  measured() {
    const { facts, row } = this;
    const width = Math.max(Math.floor(this.svg.getBoundingClientRect().width), 300) - MARGIN.left - MARGIN.right;
    const x = { lo: facts.lo, hi: facts.hi };
    const known = facts.rows[row - 1].map(value => value ?? NaN);
    const above = row > 1 ? { lo: -facts.reach[row - 1], hi: facts.reach[row - 1] } : heights(known, { clip: true });
    const top = facts.reach[row];
    return {
      upper: { x, y: { ...above, name: facts.names[row - 1] }, left: MARGIN.left, top: MARGIN.top, width, height: UPPER },
      lower: { x: { ...x, name: facts.variable }, y: { lo: -top, hi: top, name: this.name }, left: MARGIN.left, top: MARGIN.top + UPPER + MARGIN.between, width, height: LOWER },
    };
  }

  paint() {
    this.areas = this.measured();
    const { svg, areas: { upper, lower } } = this;
    svg.setAttribute("viewBox", `0 0 ${upper.width + MARGIN.left + MARGIN.right} ${lower.top + LOWER + MARGIN.bottom}`);
    svg.setAttribute("height", String(lower.top + LOWER + MARGIN.bottom));
    const still = drawing("g");
    this.paintCurve(drawArea(still, upper).inside, upper);
    const { group, inside } = drawArea(still, lower);
    this.paintSketch(group, inside, lower);
    const column = acrossOf(lower, xOf(this.facts, this.column)) + lower.left;
    add(still, "line", { class: "now-line", x1: column, x2: column, y1: upper.top, y2: lower.top + LOWER });
    svg.replaceChildren(still);
    this.say();
  }

  /** The curve with the point and its tangent. @param {Element} inside @param {Area} area */
  paintCurve(inside, area) {
    const { facts, row, column } = this;
    const values = facts.rows[row - 1].map(value => value ?? NaN);
    const x = values.map((_, k) => xOf(facts, k));
    const [value, slope] = [values[column], facts.rows[row][column]];
    /** @type {Layer[]} */
    const layers = [{ kind: "line", role: row > 1 ? "backward" : "forward", x, y: values }];
    if (slope !== null && Number.isFinite(value)) {
      const ends = [area.x.lo, area.x.hi];
      layers.push({ kind: "line", role: "muted", x: ends, y: ends.map(end => value + slope * (end - x[column])) });
    }
    layers.push({ kind: "points", role: row > 1 ? "backward" : "forward", x: [x[column]], y: [value], size: 6 });
    drawLayers(inside, area, layers.filter(layer => layer.kind !== "points" || Number.isFinite(value)));
  }

  /** The sketch, the trace, and once it is shown the derivative. @param {Element} group @param {Element} inside @param {Area} area */
  paintSketch(group, inside, area) {
    const { facts, row, sketch, isShown } = this;
    const x = sketch.map((_, k) => xOf(facts, k));
    const number = (/** @type {Heights} */ given) => given.map(value => value ?? NaN);
    const truth = shown(facts, row);
    /** @type {Layer[]} */
    const layers = [{ kind: "line", role: "muted", x: [facts.lo, facts.hi], y: [0, 0] }];
    const there = x.map((_, k) => k).filter(k => truth[k] !== null);
    if (isShown) {
      const [half, low] = [halfBand(truth), number(truth)];
      const band = { x: there.map(k => x[k]), y: there.map(k => low[k] - half), top: there.map(k => low[k] + half) };
      layers.push({ kind: "band", role: "backward", ...band }, { kind: "line", role: "backward", x, y: low });
      const { code, scale } = judge(facts, sketch, row);
      if (!code && Math.abs(scale - 1) > 0.05) layers.push({ kind: "line", role: "ink", dashed: true, x, y: number(sketch).map(y => y / scale) });
    }
    const dots = [...(this.isTracing ? this.traces.get(this.key) ?? [] : [])].filter(k => truth[k] !== null);
    layers.push({ kind: "points", role: "backward", size: 3, x: dots.map(k => x[k]), y: dots.map(k => Number(truth[k])) });
    layers.push({ kind: "line", role: "ink", x, y: number(sketch) });
    if (isShown) {
      const [mine, its] = [zerosOf(facts, sketch), zerosOf(facts, truth)];
      layers.push({ kind: "points", role: "backward", size: 5, x: its, y: its.map(() => 0) });
      layers.push({ kind: "points", role: "ink", hollow: true, size: 5, x: mine, y: mine.map(() => 0) });
    }
    drawLayers(inside, area, layers.filter(layer => layer.x.length));
    if (this.handle >= 0) {
      handlesOf(sketch).forEach((height, k) => {
        const place = { cx: share(area.x, x[(k * (COLUMNS - 1)) / (HANDLES - 1)]) * area.width, cy: downOf(area, height), r: k === this.handle ? 8 : 5 };
        add(group, "circle", { class: `layer hollow ${k === this.handle ? "role-now" : "role-ink"}`, ...place });
      });
    }
    if (isShown) this.paintSigns(group, area, truth);
  }

  /** Two strips of signs, that of the sketch above that of the derivative. @param {Element} group @param {Area} area @param {Heights} truth */
  paintSigns(group, area, truth) {
    [signsOf(this.sketch), signsOf(truth)].forEach((signs, line) => {
      let first = 0;
      signs.forEach((sign, k) => {
        if (k < signs.length - 1 && signs[k + 1] === sign) return;
        const from = (first / COLUMNS) * area.width;
        const wide = ((k + 1 - first) / COLUMNS) * area.width;
        const role = line ? "role-backward" : "role-ink";
        const y = 2 + line * (STRIP + 4);
        if (sign > 0) add(group, "rect", { class: `sign ${role}`, x: from, y, width: wide, height: STRIP });
        else add(group, "line", { class: `sign ${role}`, x1: from, x2: from + wide, y1: y + STRIP / 2, y2: y + STRIP / 2 });
        if (wide > 24 && sign) add(group, "text", { class: `sign-text ${sign > 0 ? "on" : role}`, x: from + wide / 2, y: y + STRIP }, sign > 0 ? "+" : "−");
        first = k + 1;
      });
    });
  }

  say() {
    const { facts, isShown, sketch, name, row } = this;
    const best = this.get("best");
    const many = this.get("dealt").length;
    const day = this.get("daily") ? "Slope of the day. " : "";
    this.title.textContent = `${day}Draw ${name}: how steep is ${facts.names[row - 1]}?${best ? ` ${best} of 100 to beat.` : ""}`;
    this.show.textContent = `show ${name}`;
    this.show.hidden = !this.get("reveals") || isShown;
    this.clear.hidden = isShown;
    this.save.hidden = !isShown;
    const more = row < this.get("order") && isShown;
    this.next.hidden = !this.canGoOn;
    this.next.textContent = more ? `now draw ${facts.names[row + 1]} from ${name}` : "next function";
    this.count.textContent = many > 1 ? `function ${this.get("at") + 1} of ${many}` : "";
    this.said.textContent = isShown ? this.verdict(best) : this.told || this.point();
    const mine = `Your sketch: ${inWords(facts, sketch)}.`;
    const drawn = sketch.some(height => height !== null);
    this.words.textContent = isShown ? `${mine} ${name}: ${inWords(facts, shown(facts, row))}.` : drawn ? mine : "Nothing is drawn yet.";
    this.svg.setAttribute("aria-label", `${this.title.textContent} ${this.words.textContent}`);
  }

  /** @param {number} best */
  verdict(best) {
    const judged = judge(this.facts, this.sketch, this.row);
    const beaten = best ? (judged.score > best ? " You beat it." : ` ${best} was to beat.`) : "";
    return `${said(judged, this.name, this.get("ideas"))} Its sign is right on ${judged.signs} % of the width.${beaten}`;
  }

  /** What the point says of the curve. */
  point() {
    const { facts, row, column } = this;
    const slope = facts.rows[row][column];
    const at = `At ${facts.variable} = ${position(facts, xOf(facts, column))}`;
    if (!this.isTracing) return `${at}: the straight line is the tangent.`;
    return slope === null ? `${at} there is no slope.` : `${at} the slope is ${short(slope, 3)}: the height of the dot below.`;
  }
}

export default { render };
