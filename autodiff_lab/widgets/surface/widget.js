// The explorer of a function of two numbers: contours, the field, a start to drag, and the paths of optimizers.

import { drawing } from "../dom.js";
import { share, valueAt } from "../plotting/axes.js";
import { add, addButton, addCheckbox, make } from "../plotting/elements.js";
import { listenToPointer } from "../plotting/gestures.js";
import { placeLabel } from "../plotting/labels.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { Stage, staged } from "../plotting/stage.js";
import { drawNow, drawSteps, ellipseAt, MARGIN } from "./paper.js";
import { numbersOf, pairText, stepText } from "./sentences.js";

const HALO = 10; // pixels around the point that is shown

/** @typedef {import("../plotting/axes.js").AxisFacts} AxisFacts */
/** @typedef {import("../plotting/layers.js").Layer} Layer */
/** @typedef {import("./paper.js").Point} Point */
/** @typedef {import("./sentences.js").Path} Path */
/** @typedef {{ name: string, x: AxisFacts, y: AxisFacts, layers: Layer[] }} Facts */
/** @typedef {{ facts: Facts, paths: Path[], start: number[], step: number, chosen: number, field: boolean,
 *   ellipse: boolean, wants_focus: boolean }} Traits */

const TRAITS = /** @type {const} */ (["facts", "paths", "start", "step", "chosen", "field", "ellipse"]);
const LOWEST = 260;
const HIGHEST = 560;
const NUDGE = 0.02; // of the width of the picture

/** @extends {Stage<Traits>} */
class SurfaceView extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.title = make(root, "div", "head");
    const row = make(root, "div", "controls");
    addButton(row, "◀", "One step back (←)", () => this.go(this.step - 1), stop);
    addButton(row, "▶", "One step on (→)", () => this.go(this.step + 1), stop);
    this.slider = make(row, "input", "steps");
    Object.assign(this.slider, { type: "range", min: "0" });
    this.slider.setAttribute("aria-label", "step");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)), { signal: stop });
    this.field = addCheckbox(row, "arrows downhill", on => this.set("field", on), stop);
    this.ellipse = addCheckbox(row, "curvature", on => this.set("ellipse", on), stop);
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot", tabindex: 0, role: "application" }));
    this.said = this.addSentence();
    this.others = make(root, "p", "sentence others");
    this.addKeys("← → step, Home End, Shift and arrows move the start (or drag it), P next path, F arrows, C curvature.", "→");
    this.area = this.areaOf();
    listenToPointer(this.svg, { take: () => (x, y) => this.moveTo(x, y) }, stop);
    this.begin(TRAITS, this.svg);
  }

  get paths() {
    return this.model.get("paths");
  }

  get longest() {
    return Math.max(...this.paths.map(path => path.rows.length - 1));
  }

  get step() {
    return Math.min(this.model.get("step"), this.longest);
  }

  /** @param {number} step */
  go(step) {
    this.set("step", Math.min(Math.max(step, 0), this.longest));
  }

  /** Put the start under the pointer. @param {number} x @param {number} y in pixels of the picture */
  moveTo(x, y) {
    const { area } = this;
    this.place(valueAt(area.x, (x - area.left) / area.width), valueAt(area.y, 1 - (y - area.top) / area.height));
  }

  /** @param {number} x @param {number} y */
  place(x, y) {
    const inside = (/** @type {AxisFacts} */ { lo, hi }, /** @type {number} */ value) => Number(Math.min(Math.max(value, lo), hi).toPrecision(4));
    const { facts } = this;
    this.set("start", [inside(facts.x, x), inside(facts.y, y)]);
  }

  get facts() {
    return this.model.get("facts");
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("button, input[type=checkbox]") && [" ", "Enter"].includes(event.key)) return null;
    if (target === this.slider && event.key.startsWith("Arrow") && !event.shiftKey) return null;
    const { facts } = this;
    const [x, y] = this.model.get("start");
    const [across, up] = [facts.x, facts.y].map(axis => NUDGE * (axis.hi - axis.lo));
    const by = (/** @type {number} */ dx, /** @type {number} */ dy) => () => this.place(x + dx, y + dy);
    const to = (/** @type {number} */ step) => () => this.go(step);
    /** @type {Record<string, () => void>} */
    const acts = event.shiftKey
      ? { ArrowLeft: by(-across, 0), ArrowRight: by(across, 0), ArrowUp: by(0, up), ArrowDown: by(0, -up) }
      : { ArrowLeft: to(this.step - 1), ArrowRight: to(this.step + 1), Home: to(0), End: to(this.longest) };
    acts.p = () => this.set("chosen", (this.model.get("chosen") + 1) % this.paths.length);
    acts.f = () => this.set("field", !this.model.get("field"));
    acts.c = () => this.set("ellipse", !this.model.get("ellipse"));
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  /** The area of the plot: one scale for both axes, unless it would be too flat or too tall. */
  areaOf() {
    const { x, y } = this.facts;
    const width = Math.max(Math.floor(this.svg.getBoundingClientRect().width), 300) - MARGIN.left - MARGIN.right;
    const wanted = (width * (y.hi - y.lo)) / (x.hi - x.lo);
    const height = Math.round(Math.min(Math.max(wanted, LOWEST), HIGHEST));
    return { x, y, left: MARGIN.left, top: MARGIN.top, width, height };
  }

  draw() {
    const { model, facts, paths, svg, step } = this;
    const area = this.areaOf();
    this.area = area;
    const [width, height] = [area.width + MARGIN.left + MARGIN.right, area.height + MARGIN.top + MARGIN.bottom];
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", String(height));
    const still = drawing("g");
    const { group, inside } = drawArea(still, area);
    drawLayers(inside, area, facts.layers.filter(({ kind }) => kind !== "arrows" || model.get("field")));
    const chosen = paths[model.get("chosen") % paths.length];
    const now = numbersOf(chosen.rows[Math.min(step, chosen.rows.length - 1)]);
    const at = /** @type {Point} */ (now.slice(0, 2));
    // Worked out where one scale holds for both axes.
    const reach = Math.min(area.x.hi - area.x.lo, area.y.hi - area.y.lo) / 4;
    const ellipse = model.get("ellipse") && ellipseAt(at, [now[5], now[6], now[7]], reach);
    if (ellipse) drawLayers(inside, area, [ellipse]);
    paths.forEach(path => {
      const points = path.rows.slice(0, step + 1).map(row => /** @type {Point} */ (numbersOf(row).slice(0, 2)));
      drawSteps(inside, area, points, path.role, { numbered: path === chosen ? 9 : 0 });
    });
    this.drawNames(group, area, step);
    const [sx, sy] = model.get("start");
    add(inside, "circle", { class: "layer hollow role-ink start", cx: acrossOf(area, sx), cy: downOf(area, sy), r: 7 });
    drawNow(inside, area, at, chosen.role);
    svg.replaceChildren(still);
    this.say(chosen, step);
  }

  /** @param {Element} group @param {import("./paper.js").Area} area @param {number} step */
  drawNames(group, area, step) {
    const ends = this.paths.map(({ rows }) => numbersOf(rows[Math.min(step, rows.length - 1)]));
    const on = (/** @type {number[]} */ [x, y]) => /** @type {Point} */ ([acrossOf(area, x), downOf(area, y)]);
    /** Names stand beside the halo, which is around one of these points. @type {import("../plotting/labels.js").Box[]} */
    const boxes = ends.map(end => on(end)).map(([x, y]) => ({ left: x - HALO, top: y - HALO, right: x + HALO, bottom: y + HALO }));
    const lines = this.paths.map(({ rows }) => rows.slice(0, step + 1).map(row => on(numbersOf(row))));
    this.paths.forEach(({ name, role }, k) => {
      const inView = share(area.x, ends[k][0]) <= 1 && share(area.y, ends[k][1]) <= 1;
      if (!name || !inView) return;
      const around = { lines, boxes, width: area.width, height: area.height };
      const { x, y, anchor, box } = placeLabel(on(ends[k]), name, around);
      boxes.push(box);
      add(group, "text", { class: `label layer role-${role}`, x, y, "text-anchor": anchor }, name);
    });
  }

  /** @param {Path} chosen @param {number} step */
  say(chosen, step) {
    const { model, facts, paths } = this;
    const [x, y] = model.get("start");
    const [px, py] = chosen.rows[0];
    const stale = px === null || py === null || Math.hypot(px - x, py - y) > 1e-9 * Math.max(1, Math.hypot(x, y));
    this.title.textContent = `${facts.name}, from ${pairText(x, y)}`;
    this.said.textContent = stale
      ? `Paths from ${pairText(x, y)} need the kernel of the notebook; those shown begin at ${pairText(px ?? NaN, py ?? NaN)}.`
      : stepText(chosen, step);
    this.others.textContent = paths.filter(path => path !== chosen).map(path => stepText(path, step)).join(" ");
    this.slider.max = String(this.longest);
    this.slider.value = String(step);
    this.field.checked = model.get("field");
    this.ellipse.checked = model.get("ellipse");
    this.svg.setAttribute("aria-label", `contours of ${facts.name}. ${this.said.textContent}`);
  }
}

export default staged(SurfaceView, "lab-surface");
