// Checkpoints: a strip of values, few slots to hold them.  Choose what a run keeps; the backward pass runs over the board.

import { drawing } from "../dom.js";
import { add, addButton, make } from "../plotting/elements.js";
import { Stage, staged } from "../plotting/stage.js";
import { fewestOps, ideaOf, many, moveText, nameOf, play, scoreText, stateOf } from "./rules.js";

/** @typedef {{ values: number, slots: number, ideas: Record<string, string> }} Facts */
/** @typedef {{ facts: Facts, choices: number[][], best: number, wants_focus: boolean }} Traits */

const PACE = 130; // milliseconds that a move is shown
const CELL = { height: 40, gap: 4 };
const ROW = 18;

/** @extends {Stage<Traits>} */
class BoardView extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.facts = model.get("facts");
    this.par = fewestOps(this.facts.values, this.facts.slots) - this.facts.values;
    this.game = play(this.facts.values, this.facts.slots, model.get("choices"));
    this.shown = this.game.moves.length;
    this.cursor = 1;
    /** @type {number[]} what the run that waits is to keep */
    this.draft = [];
    this.refused = "";
    this.title = make(root, "div", "head");
    this.counts = make(root, "p", "counts");
    const row = make(root, "div", "controls");
    this.runButton = addButton(row, "run", "Run, and keep what is marked (Enter)", () => this.run(), stop);
    addButton(row, "take back", "Take the last choice back (Backspace)", () => this.back(), stop);
    addButton(row, "begin again", "Begin again (R)", () => this.set("choices", []), stop);
    this.addKeys("← → move, Space marks a value to keep, Enter runs, Backspace takes a choice back, R begins again.", "→");
    this.said = this.addSentence();
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot", tabindex: 0, role: "application" }));
    this.runs = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "runs" }));
    this.svg.addEventListener("pointerdown", event => {
      const value = Number(/** @type {Element} */ (event.target).closest("[data-value]")?.getAttribute("data-value"));
      if (value) this.mark(value);
    }, { signal: stop });
    stop.addEventListener("abort", () => clearInterval(this.clock));
    this.begin(["choices"], this.svg);
  }

  changed() {
    this.replay();
  }

  /** Show the moves of a choice one after the other; at once where less motion is asked for. */
  replay() {
    const { facts, model } = this;
    const before = this.game.moves.length;
    this.game = play(facts.values, facts.slots, model.get("choices"));
    this.draft = [];
    this.refused = "";
    if (this.game.asked) this.cursor = this.game.asked.start + 1;
    const end = this.game.moves.length;
    this.shown = end > before ? Math.min(this.shown, before) : end;
    clearInterval(this.clock);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.shown = end;
    this.clock = setInterval(() => {
      if (this.shown >= end) return clearInterval(this.clock);
      this.shown += 1;
      return this.draw();
    }, PACE);
    const { again } = stateOf(facts.values, this.game.moves);
    if (!this.game.asked && (model.get("best") < 0 || again < model.get("best"))) {
      model.set("best", again);
      model.save_changes();
    }
    this.draw();
  }

  get isMoving() {
    return this.shown < this.game.moves.length;
  }

  /** @param {number} value */
  mark(value) {
    const { asked } = this.game;
    if (this.isMoving || !asked) return;
    const inside = value > asked.start && value <= asked.end;
    if (inside) this.cursor = value;
    const isMarked = this.draft.includes(value);
    const isFull = this.draft.length >= asked.free - 1;
    this.refused = "";
    if (!inside) this.refused = `This run computes ${asked.start + 1} to ${asked.end}.`;
    else if (value === asked.end) this.refused = `${value} is needed next and kept in any case.`;
    else if (isFull && !isMarked) this.refused = `Only ${many(asked.free, "slot")} ${asked.free === 1 ? "is" : "are"} free, and one is for ${asked.end}: take another value out first.`;
    else this.draft = isMarked ? this.draft.filter(one => one !== value) : [...this.draft, value].sort((a, b) => a - b);
    this.draw();
  }

  run() {
    if (this.isMoving) {
      this.shown = this.game.moves.length;
      this.draw();
    } else if (this.game.asked) this.set("choices", [...this.model.get("choices"), this.draft]);
  }

  back() {
    if (this.draft.length) {
      this.draft = [];
      this.refused = "";
      this.draw();
    } else this.set("choices", this.model.get("choices").slice(0, -1));
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("button") && [" ", "Enter"].includes(event.key)) return null;
    const { asked } = this.game;
    const [low, high] = asked ? [asked.start + 1, asked.end] : [1, this.facts.values];
    const to = (/** @type {number} */ value) => () => {
      this.cursor = Math.min(Math.max(value, low), high);
      this.refused = "";
      this.draw();
    };
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: to(this.cursor - 1), ArrowRight: to(this.cursor + 1), Home: to(low), End: to(high),
      " ": () => this.mark(this.cursor), Enter: () => this.run(), Backspace: () => this.back(), r: () => this.set("choices", []),
    };
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  draw() {
    const { facts, game } = this;
    const moves = game.moves.slice(0, this.shown);
    const state = stateOf(facts.values, moves);
    const width = Math.min(Math.max(Math.floor(this.svg.getBoundingClientRect().width), 280), 880);
    const across = Math.min((width - 8) / (facts.values + 1), 44);
    this.drawStrip(state, width, across);
    this.drawRuns(moves, width, across);
    this.say(state, moves);
  }

  /** @param {import("./rules.js").State} state @param {number} width @param {number} across */
  drawStrip(state, width, across) {
    const { facts, svg, game } = this;
    const asked = this.isMoving ? null : game.asked;
    const still = drawing("g");
    svg.setAttribute("viewBox", `0 0 ${width} ${CELL.height + 8}`);
    svg.setAttribute("height", String(CELL.height + 8));
    const path = state.last?.run;
    for (let value = 0; value <= facts.values; value += 1) {
      const isHeld = value === 0 || state.held.includes(value);
      const isDone = value > state.need;
      const isAsked = asked !== null && value > asked.start && value <= asked.end;
      const isKept = this.draft.includes(value) || (asked !== null && value === asked.end);
      const names = ["cell", isHeld ? "held" : isDone ? "done" : isKept && isAsked ? "marked" : isAsked ? "asked" : "gone"];
      if (path && !asked && value > path.start && value <= path.end) names.push("ran");
      const group = add(still, "g", { class: names.join(" "), "data-value": value });
      const box = { x: 4 + value * across + CELL.gap / 2, y: 4, width: across - CELL.gap, height: CELL.height, rx: 4 };
      add(group, "rect", box);
      if (asked && value === this.cursor) add(group, "rect", { ...box, class: "cursor" });
      add(group, "text", { class: "across", x: box.x + box.width / 2, y: 4 + CELL.height / 2 + 4 }, nameOf(value));
    }
    svg.replaceChildren(still);
  }

  /** A row for each run: from where to where it goes, and a dot at what it keeps. @param {import("./rules.js").Move[]} moves @param {number} width @param {number} across */
  drawRuns(moves, width, across) {
    const runs = moves.flatMap(({ run }) => (run ? [run] : []));
    const height = ROW * Math.max(runs.length, 1) + 8;
    this.runs.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.runs.setAttribute("height", String(height));
    const at = (/** @type {number} */ value) => 4 + (value + 0.5) * across;
    const still = drawing("g");
    runs.forEach((run, row) => {
      const y = 8 + row * ROW;
      add(still, "path", { class: "path", d: `M${at(run.start)},${y}H${at(run.end)}` });
      for (const kept of run.kept) add(still, "circle", { class: "kept", cx: at(kept), cy: y, r: 5 });
    });
    this.runs.replaceChildren(still);
    this.runs.setAttribute("role", "img");
    this.runs.setAttribute("aria-label", runs.map(run => moveText({ run, back: 0 })).join(" ") || "No run yet.");
  }

  /** @param {import("./rules.js").State} state @param {import("./rules.js").Move[]} moves */
  say(state, moves) {
    const { facts, game, model } = this;
    const asked = this.isMoving ? null : game.asked;
    const best = model.get("best") >= 0 ? `, best ${model.get("best")}` : "";
    this.title.textContent = `${many(facts.values, "value")}, ${many(facts.slots, "slot")}: par ${this.par}${best}`;
    this.counts.textContent = `Held: ${state.held.length} of ${facts.slots}, at most ${state.most}. Ops: ${facts.values} forward, ${state.again} again.`;
    const last = moves.length ? `${moveText(moves[moves.length - 1])} ` : "";
    if (asked) {
      const cursor = this.cursor === asked.end ? `${this.cursor} is needed next` : `${this.cursor} is ${this.draft.includes(this.cursor) ? "marked" : "not marked"}`;
      const rest = asked.free - 1 - this.draft.length;
      const which = asked.start ? `${asked.end} is needed and is not held: run again from ${asked.start}` : moves.length ? `${asked.end} is needed and is not held: run again from x` : `Forward, from x to ${asked.end}`;
      this.said.textContent = this.refused || `${which}. Mark what to keep: ${many(rest, "slot")} left; ${cursor}.`;
    } else if (this.isMoving) this.said.textContent = last;
    else {
      const loss = game.firstLoss;
      const idea = loss ? facts.ideas[ideaOf(loss.end - loss.start, loss.free, loss.kept.map(value => value - loss.start))] : "";
      this.said.textContent = `${scoreText(state.again, this.par)}${idea ? ` ${idea}` : ""}`;
    }
    this.runButton.disabled = !asked;
    this.svg.setAttribute("aria-label", `Board. ${this.counts.textContent} ${this.said.textContent}`);
  }
}

export default staged(BoardView, "lab-checkpoints");
