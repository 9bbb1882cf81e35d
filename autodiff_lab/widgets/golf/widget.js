// Golf on a valley: choose the length of a stroke, see the next three before they are played, and hole in few strokes.

import { drawing } from "../dom.js";
import { short } from "../numbers.js";
import { valueAt } from "../plotting/axes.js";
import { add, addButton, addCheckbox, make } from "../plotting/elements.js";
import { listenToPointer } from "../plotting/gestures.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { Stage, staged } from "../plotting/stage.js";
import { bendsOf, drawNow, drawSteps, ellipseAt, MARGIN } from "../surface/paper.js";
import { factorsOf, fitted, heightAt, isIn, MOST, parseStep, pathOf, rivalOf, rivalText, scoreText, spotText, strokeText } from "./rules.js";

/** @typedef {import("../surface/paper.js").Point} Point */
/** @typedef {import("../surface/paper.js").Area} Area */
/** @typedef {{ facts: import("./rules.js").Green, tee: Point, strokes: number[], h: number, rival: boolean, best: number,
 *   par: number, wants_focus: boolean }} Traits */

const TRAITS = /** @type {const} */ (["tee", "strokes", "h", "rival", "best"]);
const HEIGHT = 400;
const GHOSTS = 3;
const RINGS = 12;
const BAR = { width: 220, height: 28, most: 1.5 };

/** @extends {Stage<Traits>} */
class GolfView extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.green = model.get("facts");
    this.title = make(root, "div", "head");
    const row = make(root, "div", "controls");
    const label = make(row, "label", "", "length h");
    this.field = make(label, "input", "length");
    this.field.type = "text";
    this.field.inputMode = "decimal";
    this.field.title = "A number, or a fraction such as 2/11";
    this.written = "";
    this.field.addEventListener("change", () => this.choose(this.typed), { signal: stop });
    this.slider = make(row, "input");
    this.slider.type = "range";
    this.slider.min = "0";
    this.slider.max = String(Number((2.2 / this.green.curvatures[0]).toPrecision(2)));
    this.slider.step = "0.005";
    this.slider.setAttribute("aria-label", "length h");
    this.slider.addEventListener("input", () => this.choose(Number(this.slider.value)), { signal: stop });
    this.button = addButton(row, "stroke", "Play this stroke (Enter)", () => this.play(), stop);
    addButton(row, "take back", "Take the last stroke back (Backspace)", () => this.back(), stop);
    addButton(row, "from the tee", "Begin again (R)", () => this.set("strokes", []), stop);
    this.rival = addCheckbox(row, "second player", on => this.set("rival", on), stop);
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot", tabindex: 0, role: "application" }));
    this.bars = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "bars" }));
    this.said = this.addSentence();
    this.list = make(root, "ol", "strokes");
    this.against = make(root, "p", "sentence others");
    this.addKeys("← → change h by 0.01, ↑ ↓ by 0.1, Enter plays, Backspace takes back, R begins again, S second player. On the tee, Shift and arrows (or a drag) move the ball.", "→");
    this.area = this.areaOf([]);
    listenToPointer(this.svg, { take: () => (this.model.get("strokes").length ? null : (x, y) => this.moveTo(x, y)) }, stop);
    this.begin(TRAITS, this.svg);
  }

  get places() {
    return pathOf(this.green, this.model.get("tee"), this.model.get("strokes"));
  }

  get isOver() {
    const { places } = this;
    return places.length > 1 && isIn(this.green, places[places.length - 1]);
  }

  /** The length in the field; where nothing was typed the one that is chosen, with all its digits. */
  get typed() {
    return this.field.value === this.written ? this.model.get("h") : parseStep(this.field.value);
  }

  /** @param {number | null} h */
  choose(h) {
    if (h !== null) this.set("h", h);
    else this.field.value = this.written;
  }

  play() {
    const strokes = this.model.get("strokes");
    if (this.isOver || strokes.length >= MOST) return;
    this.set("strokes", [...strokes, this.model.get("h")]);
    const best = this.model.get("best");
    if (this.isOver && (!best || strokes.length + 1 < best)) this.set("best", strokes.length + 1);
  }

  back() {
    this.set("strokes", this.model.get("strokes").slice(0, -1));
  }

  /** @param {number} x @param {number} y in pixels of the picture */
  moveTo(x, y) {
    const { area } = this;
    const at = [valueAt(area.x, (x - area.left) / area.width), valueAt(area.y, 1 - (y - area.top) / area.height)];
    this.put(at[0], at[1]);
  }

  /** @param {number} x @param {number} y */
  put(x, y) {
    if (this.model.get("strokes").length) return;
    this.set("tee", [x, y].map(value => Number(Math.min(Math.max(value, -100), 100).toFixed(1))));
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("button, input[type=checkbox]") && [" ", "Enter"].includes(event.key)) return null;
    if (target === this.slider && event.key.startsWith("Arrow")) return null;
    if (target === this.field) {
      if (event.key !== "Enter") return null;
      return () => {
        const { typed } = this;
        this.choose(typed);
        if (typed !== null) this.play();
      };
    }
    const by = (/** @type {number} */ change) => () => this.choose(Number(Math.max(0, this.model.get("h") + change).toFixed(6)));
    const [x, y] = this.model.get("tee");
    /** @type {Record<string, () => void>} */
    const acts = event.shiftKey
      ? {
        ArrowLeft: () => this.put(x - 0.5, y), ArrowRight: () => this.put(x + 0.5, y),
        ArrowUp: () => this.put(x, y + 0.5), ArrowDown: () => this.put(x, y - 0.5),
      }
      : { ArrowLeft: by(-0.01), ArrowRight: by(0.01), ArrowDown: by(-0.1), ArrowUp: by(0.1) };
    acts.Enter = () => this.play();
    acts.Backspace = () => this.back();
    acts.r = () => this.set("strokes", []);
    acts.s = () => this.set("rival", !this.model.get("rival"));
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  /** The plane as far as the ball has come, in one scale, the hole always in view. @param {Point[]} places @returns {Area} */
  areaOf(places) {
    const whole = Math.max(Math.floor(this.svg.getBoundingClientRect().width), 300);
    const [width, height] = [whole - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom];
    const [hx, hy] = this.green.hole;
    const [tx, ty] = this.model.get("tee");
    /** @type {Point[]} */
    const mirrored = [[2 * hx - tx / 4, 2 * hy - ty], [tx, ty], [hx, hy]];
    return { ...fitted([...mirrored, ...places], width, height), left: MARGIN.left, top: MARGIN.top, width, height };
  }

  draw() {
    const { model, green, svg, places, isOver } = this;
    const h = model.get("h");
    const area = this.areaOf(places);
    this.area = area;
    svg.setAttribute("viewBox", `0 0 ${area.width + MARGIN.left + MARGIN.right} ${HEIGHT}`);
    svg.setAttribute("height", String(HEIGHT));
    const still = drawing("g");
    const { inside } = drawArea(still, area);
    this.drawGround(inside, area);
    const ball = places[places.length - 1];
    if (model.get("rival")) drawSteps(inside, area, rivalOf(green, model.get("tee"), h).places, "backward", { faint: true });
    if (!isOver) drawSteps(inside, area, pathOf(green, ball, Array(GHOSTS).fill(h)), "muted", { dashed: true });
    drawSteps(inside, area, places, "forward", { numbered: 20 });
    drawNow(inside, area, ball, "forward");
    svg.replaceChildren(still);
    this.drawBars(h);
    this.say(h, places, isOver);
  }

  /** Contours, evenly apart, and the hole. @param {Element} inside @param {Area} area */
  drawGround(inside, area) {
    const { green } = this;
    const corners = [area.x.lo, area.x.hi].flatMap(x => [area.y.lo, area.y.hi].map(y => /** @type {Point} */ ([x, y])));
    const highest = Math.max(...corners.map(corner => heightAt(green, corner)));
    const farthest = Math.sqrt((2 * highest) / bendsOf(green.hessian).values[0]);
    for (let k = 1; k < RINGS; k += 1) {
      const ring = ellipseAt(green.hole, green.hessian, (farthest * k) / RINGS);
      if (ring) drawLayers(inside, area, [{ ...ring, role: "muted", faint: true }]);
    }
    const [x, y] = [acrossOf(area, green.hole[0]), downOf(area, green.hole[1])];
    add(inside, "circle", { class: "layer hollow role-ink", cx: x, cy: y, r: 5 });
    add(inside, "path", { class: "flag", d: `M${x},${y}V${y - 28}l14,5l-14,5` });
  }

  /** What a stroke of this length multiplies the error by, as bars that flip where the factor is negative. @param {number} h */
  drawBars(h) {
    const factors = factorsOf(this.green, h);
    const height = BAR.height * factors.length + 20;
    this.bars.setAttribute("viewBox", `0 0 560 ${height}`);
    this.bars.setAttribute("width", "560");
    const still = drawing("g");
    const [left, half] = [90, BAR.width / 2];
    const at = (/** @type {number} */ value) => left + half + (Math.min(Math.max(value, -BAR.most), BAR.most) / BAR.most) * half;
    for (const value of [-1, 0, 1]) {
      add(still, "line", { class: value ? "grid" : "zero", x1: at(value), x2: at(value), y1: 0, y2: height - 16 });
      add(still, "text", { class: "tick across", x: at(value), y: height - 2 }, short(value));
    }
    factors.forEach(({ text, value }, row) => {
      const y = row * BAR.height + 4;
      const far = Math.abs(value) >= 1;
      add(still, "text", { class: "up", x: left - 8, y: y + 14 }, text);
      add(still, "rect", { class: far ? "far" : "near", x: Math.min(at(0), at(value)), width: Math.abs(at(value) - at(0)), y, height: 18 });
      const word = Math.abs(value) < 1e-12 ? ": this error is gone" : far ? ": does not shrink" : value < 0 ? ": shrinks, on the other side" : ": shrinks";
      add(still, "text", { x: left + BAR.width + 12, y: y + 14 }, short(Math.abs(value) < 1e-12 ? 0 : value, 3) + word);
    });
    this.bars.replaceChildren(still);
    this.bars.setAttribute("role", "img");
    this.bars.setAttribute("aria-label", factors.map(({ text, value }) => `${text} is ${short(value)}`).join(", "));
  }

  /** @param {number} h @param {Point[]} places @param {boolean} isOver */
  say(h, places, isOver) {
    const { model, green } = this;
    const strokes = model.get("strokes");
    const best = model.get("best") ? `, best ${model.get("best")}` : "";
    this.title.textContent = `Golf on ${green.name}: ${strokes.length} ${strokes.length === 1 ? "stroke" : "strokes"}, par ${model.get("par")}${best}`;
    const last = places[places.length - 1];
    const lying = strokes.length
      ? `${strokeText(green, strokes.length, strokes[strokes.length - 1], last)}.`
      : `The ball lies at ${spotText(last)}, f = ${short(heightAt(green, last))}.`;
    this.said.textContent = (lying[0].toUpperCase() + lying.slice(1)) + (isOver ? ` ${scoreText(strokes.length, model.get("par"))}` : "");
    this.list.replaceChildren();
    strokes.slice(-8).forEach((each, k) => {
      const number = Math.max(0, strokes.length - 8) + k + 1;
      const item = make(this.list, "li", "", strokeText(green, number, each, places[number]).replace(/^stroke \d+: /, ""));
      item.value = number;
    });
    this.against.textContent = model.get("rival") ? rivalText(green, model.get("tee"), h) : "";
    this.written = short(h, 6).replace("−", "-");
    this.field.value = this.written;
    this.slider.value = String(h);
    this.button.disabled = isOver;
    this.rival.checked = model.get("rival");
    this.svg.setAttribute("aria-label", `golf. ${this.said.textContent}`);
  }
}

export default staged(GolfView, "lab-surface lab-golf");
