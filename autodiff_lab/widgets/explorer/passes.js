// Several backward passes over one program: one is chosen, or two are compared, each at a step of its own.

import { drawing, element } from "../dom.js";
import { keep } from "../host.js";
import { drawCells, picturedSize } from "./cells.js";
import { fold, gradientOf, reach } from "./fold.js";
import { Part } from "./part.js";
import { clamp } from "./viewport.js";
import { CUT, gradientText } from "./words.js";

/** @import { Box, Scene } from "./scene.js" */
/** @import { Gradient, State } from "./fold.js" */
/** @import { ExplorerView } from "./widget.js" */

const MOST_NAMES = 3;

/** The backward passes, by their places in `scene.sweeps`, if one would replace gradients of another; else none. @param {Scene} scene @returns {number[]} */
export function passesOf(scene) {
  const passes = scene.sweeps.flatMap(({ tangent }, at) => (tangent ? [] : [at]));
  const reached = passes.flatMap((at) => [...reach(scene, at)]);
  return new Set(reached).size < reached.length ? passes : [];
}

/** What a pass finds: "2: ∂loss/∂(w, b)". @param {Scene} scene @param {number} at */
export function passName(scene, at) {
  const { targets, sources } = scene.sweeps[at];
  const [above, below] = [targets, sources].map((numbers) => {
    const names = numbers.map((number) => scene.tensors.get(number)?.name ?? "").filter((name) => name);
    const text = [...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? [CUT] : [])].join(", ");
    return /^[\p{L}\p{N}_.]*$/u.test(text) ? text : `(${text})`;
  });
  return below ? `${at + 1}: ∂${above}/∂${below}` : `${at + 1}: ∂${above}`;
}

/** Which of two passes come to a box: "1", "2", "1+2", or neither. @param {Scene} scene @param {number[]} pair @param {Box} box */
export function reachOf(scene, pair, box) {
  return pair.filter((at) => box.tensors.some((number) => reach(scene, at).has(number))).map((at) => at + 1).join("+");
}

/** The passes that are shown: the trait `passes` has their numbers, from 1. */
export class Passes extends Part {
  /** @param {ExplorerView} view */
  constructor(view) {
    super(view);
    this.all = passesOf(this.scene);
    /** The one of two passes that was stepped last, and where each was left. */
    this.active = -1;
    /** @type {Map<number, number>} */
    this.left = new Map();
    const list = (/** @type {string} */ label, /** @type {string} */ none, /** @type {(at: number) => number[]} */ pair) => element(
      "select", { "aria-label": label, onchange: ({ target }) => this.choose(pair(Number(target.value))) },
      element("option", { value: -1 }, none), ...this.all.map((at) => element("option", { value: at }, passName(this.scene, at))));
    this.lists = [
      list("Gradients of", "the latest pass", (at) => [at, this.pair()[1] ?? -1]),
      list("Compared with", "no other", (at) => [this.pair()[0] ?? this.all[0], at]),
    ];
    this.legend = element("span", { class: "legend" });
    this.element = element("div", { class: "slots passes", role: "group", "aria-label": "Backward passes", hidden: !this.all.length },
      element("label", {}, "gradients of ", this.lists[0]), element("label", {}, "compared with ", this.lists[1]), this.legend);
  }

  /** The chosen pass, or the two that are compared. @returns {number[]} */
  pair() {
    const asked = /** @type {number[]} */ (this.view.model.get("passes") ?? []).map((number) => number - 1);
    return asked.filter((at, place) => this.all.includes(at) && asked.indexOf(at) === place).slice(0, 2);
  }

  /** @param {number[]} pair -1 for none */
  choose(pair) {
    const chosen = pair[0] < 0 ? [] : pair.filter((at, place) => at >= 0 && pair.indexOf(at) === place);
    this.left.clear();
    this.active = chosen[0] ?? -1;
    keep(this.view.model, { passes: chosen.map((at) => at + 1) });
    const last = this.scene.sweeps[this.active]?.last ?? 0;
    if (chosen.length && !chosen.includes(this.passAt(this.view.step()))) this.view.go(last);
    const [one, other] = chosen.map((at) => passName(this.scene, at));
    this.view.say(other ? `Pass ${one} beside pass ${other}.` : one ? `Gradients of pass ${one}.` : "Gradients of the latest pass.");
  }

  /** The next pass in one of the lists, round and through none. @param {0 | 1} list */
  next(list) {
    const pair = this.pair();
    if (list) pair[0] ??= this.all[0];
    const others = [-1, ...this.all.filter((at) => !list || at !== pair[0])];
    const now = others.indexOf(pair[list] ?? -1);
    pair[list] = others[(now + 1) % others.length];
    this.choose(pair);
  }

  /** To the other of two passes, where it was left. */
  change() {
    const pair = this.pair();
    if (pair.length < 2) return this.view.say("Choose two passes first, with G.");
    this.active = pair[0] === this.active ? pair[1] : pair[0];
    this.view.go(this.left.get(this.active) ?? this.scene.sweeps[this.active].last);
    return this.view.say(`Now stepping pass ${passName(this.scene, this.active)}.`);
  }

  /** The pass to which a step belongs, with the ops that its rules run; -1 for none. @param {number} step */
  passAt(step) {
    return this.scene.phases.find(({ first, last }) => step >= first && step <= last)?.sweep ?? -1;
  }

  /** The state whose gradients the graph shows. @param {State} state */
  shown(state) {
    const pair = this.pair();
    const here = this.passAt(state.step);
    if (pair.length > 1 && pair.includes(here)) {
      this.active = here;
      this.left.set(here, state.step);
    }
    if (!pair.includes(this.active)) this.active = pair[0] ?? -1;
    return pair.length ? { ...state, ...this.gradients(this.active, state), step: state.step } : state;
  }

  /** What is known of a pass: one of two stays where it was left. @param {number} at @param {State} state @returns {State} */
  gradients(at, state) {
    const { first, last } = this.scene.sweeps[at];
    const step = this.pair().length > 1 ? this.left.get(at) ?? last : clamp(state.step, first - 1, last);
    const { adjoints, passed, finished, sweep } = fold(this.scene, step, at);
    return { ...state, step, sweep, adjoints, passed, finished, only: at };
  }

  /** The lists and the colours of the nodes. */
  paint() {
    const pair = this.pair();
    this.lists.forEach((list, at) => { list.value = String(pair[at] ?? -1); });
    const words = pair.length > 1 ? [...pair.map((at) => `only ${at + 1}`), "both"] : [];
    this.legend.replaceChildren(...words.map((word, at) => element("span", { "data-reach": ["one", "other", "both"][at] }, word)));
    const reached = (/** @type {Box} */ box) => {
      const text = reachOf(this.scene, pair, box);
      return { text, reach: text === "" ? "none" : text.includes("+") ? "both" : text === String(pair[0] + 1) ? "one" : "other" };
    };
    this.graph.colours.show({ reached: pair.length > 1 ? reached : null });
  }

  /** The adjoints of both passes, for the tensors of the selected node, or else of the step. @param {State} state @returns {HTMLElement[]} */
  card(state) {
    const pair = this.pair();
    if (pair.length < 2) return [];
    const box = this.graph.view?.boxes[this.view.focus()];
    const application = this.scene.applications.get(box?.application ?? -1);
    const numbers = [...new Set([...(box?.tensors ?? []), ...(application?.inputs ?? [])])];
    const states = pair.map((at) => this.gradients(at, state));
    const rows = numbers.flatMap((number) => this.scene.tensors.get(number) ?? []).map((tensor) => (
      { tensor, known: states.map((one) => gradientOf(this.scene, one, tensor)) })).filter(({ known }) => known.some((one) => one.state !== "none"));
    const name = (/** @type {number} */ at) => element("th", { scope: "col", "aria-current": at === this.active ? "true" : undefined }, passName(this.scene, at));
    const lines = rows.map(({ tensor, known }) => element("tr", {}, element("th", { scope: "row" }, tensor.name), ...known.map(adjointCell)));
    return [element("table", { class: "adjoints" }, element("caption", {}, "Two passes side by side"), element("tr", {}, element("td", {}, "adjoint of"), ...pair.map(name)), ...lines)];
  }
}

/** @param {Gradient} gradient */
function adjointCell(gradient) {
  const { value } = gradient;
  const words = element("span", { class: `number backward ${value?.mark ?? ""}`, "data-full": value?.full, title: value?.full }, value?.short ?? (gradient.state === "pending" ? "not yet" : gradientText(gradient) || "none"));
  const room = value && picturedSize(value);
  if (!room) return element("td", {}, words);
  const cells = drawing("g", { class: "cells backward" });
  drawCells(cells, value, room);
  return element("td", {}, drawing("svg", { width: room.width + 2, height: room.height + 2, viewBox: `-1 -1 ${room.width + 2} ${room.height + 2}`, "aria-hidden": "true" }, cells), words);
}
