// The step plot: error of a measured slope against the step, both logarithmic, the digits that cancel, and a game.

import { drawing } from "../dom.js";
import { valueAt } from "../plotting/axes.js";
import { add, addButton, addCheckbox, make } from "../plotting/elements.js";
import { listenToPointer } from "../plotting/gestures.js";
import { placeLabel } from "../plotting/labels.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { Stage, staged } from "../plotting/stage.js";
import { short } from "../numbers.js";
import { StepGame, TRIES } from "./game.js";
import { axesOf, envelopeOf, errorsOf, guidesOf, perDecade, stepSentence, stripOf } from "./steps.js";

/** @typedef {import("./steps.js").StepFacts} StepFacts */
/** @typedef {import("../plotting/layers.js").Layer} Layer */
/** @typedef {{ dealt: StepFacts[], game: boolean, h: number, central: boolean, dtype: import("./steps.js").Dtype, start: number }} Traits */

const HEIGHT = 420;
const MARGIN = { left: 64, top: 32, right: 24, bottom: 48 };

/** The points of a line layer on the screen, for labels that keep away from them. @param {import("../plotting/layers.js").Area} area @param {Layer} layer @returns {[number, number][]} */
const spotsOf = (area, layer) => layer.x
  .map((value, i) => /** @type {[number, number]} */ ([acrossOf(area, value), downOf(area, layer.y[i])]))
  .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && x >= -50 && x <= area.width + 50);

/** @extends {Stage<Traits>} */
class StepView extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.isGame = model.get("game");
    this.number = 0;
    this.width = 0;
    this.facts = model.get("dealt")[0];
    this.play = new StepGame([1], []);
    this.deal(model.get("start"));
    this.title = make(root, "div", "head");
    this.controls(stop);
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", {
      class: "plot", tabindex: 0, role: "slider", "aria-label": "step h, logarithmic", "aria-orientation": "horizontal",
    }));
    this.said = this.addSentence();
    this.strip = make(root, "div", "strip");
    const more = this.isGame ? "Enter tries this step" : "C central, 3 float32";
    make(root, "p", "keys", `← → move h by a decade, with Shift by a little; or drag. ${more}.`);
    listenToPointer(this.svg, { take: () => x => this.go(this.nearest(x)) }, stop);
    this.begin(["h", "central", "dtype"]);
  }

  /** @param {AbortSignal} stop */
  controls(stop) {
    const row = make(this.root, "div", "controls");
    if (this.isGame) {
      this.tryButton = addButton(row, "try this h", "Measure with this step (Enter)", () => this.attempt(), stop);
      addButton(row, "another function", "Deal another function", () => {
        this.deal(this.number + 1);
        this.draw();
      }, stop);
      this.count = make(row, "span");
      return;
    }
    this.central = addCheckbox(row, "central", on => this.set("central", on), stop);
    this.single = addCheckbox(row, "float32", on => this.set("dtype", on ? "float32" : "float64"), stop);
  }

  /** @param {number} number of the function that is shown */
  deal(number) {
    const dealt = this.model.get("dealt");
    this.number = ((number % dealt.length) + dealt.length) % dealt.length;
    this.facts = dealt[this.number];
    this.play = new StepGame(this.steps, errorsOf(this.facts, this.formula));
  }

  get formula() {
    return { dtype: this.model.get("dtype"), central: this.model.get("central") };
  }

  get steps() {
    return this.facts.values[this.formula.dtype].h;
  }

  /** Index of the step that is shown: the one nearest to h. */
  get index() {
    const goal = Math.log10(Math.max(this.model.get("h"), 1e-300));
    const far = this.steps.map(h => Math.abs(Math.log10(h) - goal));
    return far.indexOf(Math.min(...far));
  }

  /** @param {number} x in pixels of the picture */
  nearest(x) {
    const part = (x - MARGIN.left) / this.width;
    const goal = Math.log10(valueAt({ lo: this.steps[0], hi: this.steps[this.steps.length - 1], log: true }, part));
    const far = this.steps.map(h => Math.abs(Math.log10(h) - goal));
    return far.indexOf(Math.min(...far));
  }

  /** @param {number} index */
  go(index) {
    this.model.set("h", this.steps[Math.min(Math.max(index, 0), this.steps.length - 1)]);
    this.model.save_changes();
    this.draw();
  }

  attempt() {
    this.play.try(this.index);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("button, input") && [" ", "Enter"].includes(event.key)) return null;
    const by = event.shiftKey ? 1 : perDecade(this.steps);
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.go(this.index - by),
      ArrowRight: () => this.go(this.index + by),
      ArrowDown: () => this.go(this.index - by),
      ArrowUp: () => this.go(this.index + by),
      Home: () => this.go(0),
      End: () => this.go(this.steps.length - 1),
    };
    if (this.isGame) acts.Enter = () => this.attempt();
    else {
      acts.c = () => this.set("central", !this.formula.central);
      acts["3"] = () => this.set("dtype", this.formula.dtype === "float32" ? "float64" : "float32");
    }
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  draw() {
    const { facts, formula, index, svg } = this;
    const whole = Math.max(Math.floor(svg.getBoundingClientRect().width), 300);
    this.width = whole - MARGIN.left - MARGIN.right;
    const errors = errorsOf(facts, formula);
    const area = { ...axesOf(this.steps, errors), ...MARGIN, width: this.width, height: HEIGHT - MARGIN.top - MARGIN.bottom };
    svg.setAttribute("viewBox", `0 0 ${whole} ${HEIGHT}`);
    svg.setAttribute("height", String(HEIGHT));
    const still = drawing("g");
    const { group, inside } = drawArea(still, area);
    if (!this.isGame || this.play.isOver) this.drawErrors(group, inside, area, errors, index);
    if (this.isGame) this.drawTries(inside, area, errors);
    this.drawNow(inside, area, errors, index);
    svg.replaceChildren(still);
    this.say(errors, index);
  }

  /** @param {Element} group @param {Element} inside @param {import("../plotting/layers.js").Area} area @param {number[]} errors @param {number} index */
  drawErrors(group, inside, area, errors, index) {
    const { low, high } = envelopeOf(this.steps, errors, area.y.lo);
    const there = errors.map((error, i) => ({ x: this.steps[i], y: Math.max(error, area.y.lo), low: low[i], high: high[i] }))
      .filter(({ y, low: bottom }) => Number.isFinite(y) && Number.isFinite(bottom));
    const x = there.map(each => each.x);
    const guides = guidesOf(this.facts, this.formula);
    /** @type {Layer[]} */
    const lines = guides.map(({ factor, power }) => ({
      kind: "line", role: "muted", dashed: true, x: [area.x.lo, area.x.hi],
      y: [factor * area.x.lo ** power, factor * area.x.hi ** power],
    }));
    /** @type {Layer} */
    const dots = { kind: "points", role: "forward", size: 1.5, x, y: there.map(each => each.y) };
    drawLayers(inside, area, [
      ...lines,
      { kind: "band", role: "forward", x, y: there.map(each => each.low), top: there.map(each => each.high) },
      dots,
    ]);
    const now = acrossOf(area, this.steps[index]);
    /** @type {import("../plotting/labels.js").Spot[][]} */
    const taken = [...[...lines, dots].map(layer => spotsOf(area, layer)), [[now, 0], [now, area.height]]];
    guides.forEach(({ name, factor, power }) => {
      const along = Array.from({ length: 97 }, (_, i) => valueAt(area.x, i / 96));
      const shown = along.filter(h => factor * h ** power > area.y.lo && factor * h ** power < area.y.hi);
      const h = shown[Math.floor((shown.length * (power > 0 ? 2 : 1)) / 3)] ?? along[48];
      const place = placeLabel([acrossOf(area, h), downOf(area, factor * h ** power)], name, {
        lines: taken, boxes: [], width: area.width, height: area.height,
      });
      add(group, "text", { class: "label layer role-muted", x: place.x, y: place.y, "text-anchor": place.anchor }, name);
    });
  }

  /** @param {Element} inside @param {import("../plotting/layers.js").Area} area @param {number[]} errors */
  drawTries(inside, area, errors) {
    this.play.tried.forEach((tried, number) => {
      const [cx, cy] = [acrossOf(area, this.steps[tried]), downOf(area, Math.max(errors[tried], area.y.lo))];
      add(inside, "circle", { class: "layer role-backward tried", cx, cy, r: 6 });
      add(inside, "text", { class: "label", x: cx + 10, y: cy - 8 }, String(number + 1));
    });
  }

  /** The step that is shown: a line at its h, and on its error a point, unless the game hides it. @param {Element} inside @param {import("../plotting/layers.js").Area} area @param {number[]} errors @param {number} index */
  drawNow(inside, area, errors, index) {
    const x = acrossOf(area, this.steps[index]);
    add(inside, "line", { class: "now-line", x1: x, x2: x, y1: 0, y2: area.height });
    const hidden = this.isGame && !this.play.isOver && !this.play.tried.includes(index);
    if (hidden || !Number.isFinite(errors[index])) return;
    const cy = Math.min(downOf(area, Math.max(errors[index], area.y.lo)), area.height);
    add(inside, "circle", { class: "halo", cx: x, cy, r: 8 });
    add(inside, "circle", { class: "layer role-forward", cx: x, cy, r: 4 });
  }

  /** @param {number[]} errors @param {number} index */
  say(errors, index) {
    const { facts, formula, play } = this;
    const how = `${formula.central ? "central" : "one-sided"}, ${formula.dtype}`;
    const at = `${facts.name} at ${short(facts.x)}`;
    this.title.textContent = this.isGame ? `Find the best step in five tries: ${at}, ${how}` : `Measured slope of ${at}, ${how}`;
    const sentence = this.isGame && !play.isOver ? this.gameSentence(errors, index) : stepSentence(facts, formula, index);
    const over = this.isGame && play.isOver ? `${this.verdict(errors)} ` : "";
    this.said.textContent = over + sentence;
    if (this.central) this.central.checked = formula.central;
    if (this.single) this.single.checked = formula.dtype === "float32";
    if (this.tryButton) this.tryButton.disabled = play.isOver;
    if (this.count) this.count.textContent = `${play.tried.length} of ${TRIES} tries used`;
    this.writeStrip(index);
    this.svg.setAttribute("aria-valuetext", this.said.textContent);
    const { steps } = this;
    Object.entries({ now: steps[index], min: steps[0], max: steps[steps.length - 1] }).forEach(([what, h]) => (
      this.svg.setAttribute(`aria-value${what}`, Math.log10(h).toFixed(2))));
  }

  /** @param {number[]} errors @param {number} index */
  gameSentence(errors, index) {
    const h = `h = ${short(this.steps[index], 3)}`;
    const { tried } = this.play;
    if (!tried.includes(index)) return `${h}. Which step has the smallest error? You see the error only of steps that you try.`;
    return `Try ${tried.indexOf(index) + 1}, ${h}: wrong by ${short(errors[index], 2)}.`;
  }

  /** @param {number[]} errors */
  verdict(errors) {
    const { score, leader, best: { index } } = this.play;
    const found = `Your best step, ${short(this.steps[leader], 2)}, is wrong by ${short(errors[leader], 2)}`;
    const against = score < 1.05 ? "nothing does better for long" : `${short(score, 2)} times the error near ${short(this.steps[index], 1)}`;
    return `${found}: ${against}.`;
  }

  /** @param {number} index */
  writeStrip(index) {
    this.strip.replaceChildren();
    const hidden = this.isGame && !this.play.isOver;
    this.strip.hidden = hidden;
    if (hidden) return;
    const { rows, same } = stripOf(this.facts, this.formula, index);
    for (const { name, text } of rows) {
      const row = make(this.strip, "div");
      make(row, "span", "what", name);
      const digits = make(row, "span", "digits");
      make(digits, "s", "", text.slice(0, same));
      make(digits, "b", "", text.slice(same));
    }
  }
}

export default staged(StepView, "lab-steps-plot");
