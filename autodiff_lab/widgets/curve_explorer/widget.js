// The function explorer: f over f', one x axis, a point that can be dragged, its tangent, and a microscope.
// All samples are here when it opens; only looking closer asks Python for more, and works without an answer.

import { drawing } from "../dom.js";
import { keep, listenTo } from "../host.js";
import { add } from "../plotting/elements.js";
import { listenToPointer } from "../plotting/gestures.js";
import { Stage, staged } from "../plotting/stage.js";
import { keyAction, makeFoot, makeHead, makeReadout, makeSliders } from "./controls.js";
import { hit } from "./paths.js";
import { drawPoint, drawView } from "./picture.js";
import { State } from "./state.js";

/** @typedef {"point" | "other"} HandleName */
/**
 * @typedef {{
 *   facts: import("./state.js").Facts, samples: DataView, x: number, other: number, order: number, secant: boolean,
 *   parameters: Record<string, [number, number, number]>,
 *   wants_focus: boolean,
 * }} Traits
 */

const ASK_AFTER = 80; // ms of rest before finer samples are requested
const GIVE_UP_AFTER = 5000; // ms until a kernel that does not answer counts as gone
const SAVE_AFTER = 120; // ms of rest before Python hears where the point is
const REACH = 24; // pixels around a handle

/** @extends {Stage<Traits>} */
class Explorer extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    const [x, other, order, secant] = [model.get("x"), model.get("other"), model.get("order"), model.get("secant")];
    const state = new State(model.get("facts"), model.get("samples"), { x, other, order, secant });
    this.state = state;
    /** @type {Record<string, ReturnType<typeof setTimeout>>} */
    this.timers = {};
    /** @type {import("./picture.js").Plot[]} */
    this.plots = [];
    this.drawn = "";
    this.made = 0; // how often the samples were made again
    const hands = { change: (/** @type {() => void} */ act) => this.change(act), stop };
    const head = makeHead(root, state, hands);
    makeSliders(root, model, state, values => this.remake(state.wanted ?? state.facts, values));
    const readout = makeReadout(root, state);
    this.svg = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "picture", role: "group", "aria-label": state.facts.title }));
    this.moving = add(this.svg, "g", { class: "moving" });
    const second = this.makeHandle("other", "second point of the secant");
    const handle = this.makeHandle("point", "point on the curve");
    this.handles = new Map([["other", second], ["point", handle]]);
    const foot = makeFoot(root, state, hands);
    this.refresh = () => [head, readout, foot].forEach(update => update());
    listenToPointer(this.svg, {
      take: (px, py) => this.take(px, py),
      zoom: (factor, px) => this.change(() => state.zoom(factor, this.toValue(px))),
      pan: dx => this.change(() => state.pan(dx / this.plots[0].width)),
    }, stop);
    listenTo(model, {
      "change:samples": () => {
        state.rebase(model.get("facts"), model.get("samples"));
        this.made += 1;
        this.draw();
      },
      "msg:custom": (message, buffers) => {
        if (message?.kind === "remade") {
          Object.assign(state, { wanted: null, problem: message.error ?? "" });
          this.draw();
        }
        if (message?.kind !== "samples" || !state.receive(message, buffers?.[0])) return;
        this.draw();
        this.ask();
      },
    }, stop);
    stop.addEventListener("abort", () => Object.values(this.timers).forEach(clearTimeout));
    this.begin(["x", "other", "order", "secant"], handle);
  }

  /** @param {HandleName} name @param {string} label */
  makeHandle(name, label) {
    const told = { role: "slider", "aria-label": label, "aria-orientation": "horizontal" };
    const shape = name === "point"
      ? [drawing("circle", { class: "halo", r: 8 }), drawing("circle", { class: "dot order0", r: 5 })]
      : [drawing("rect", { class: "dot order0", x: -5, y: -5, width: 10, height: 10, transform: "rotate(45)" })];
    const handle = drawing("g", { class: `handle ${name}`, tabindex: 0, ...told }, drawing("circle", { class: "focus", r: 15 }), ...shape);
    this.svg.append(handle);
    return handle;
  }

  /** @param {() => void} act */
  change(act) {
    act();
    if (this.state.wanted) this.remake(this.state.wanted);
    this.draw();
    this.ask();
    this.save();
  }

  draw() {
    const width = Math.max(Math.floor(this.svg.getBoundingClientRect().width), 320);
    const { state } = this;
    const scene = {
      ...{ words: state.facts, samples: state.samples, marks: state.facts.marks, view: state.view, domain: state.facts },
      ...{ ranges: state.ranges, order: state.order, point: state.point, other: state.other, secant: state.secant },
      ...{ grain: state.grain, markHere: state.markHere, log: state.log, trace: state.traced ? state.trace : null, walk: state.walk },
    };
    // Only the point moved: the curves stay as they are.
    const { view, order, fit, log, traced, samples, ranges } = state;
    const heights = ranges.flatMap(({ lo, hi }) => [lo, hi]);
    const drawn = [width, view.lo, view.hi, view.anchor, order, fit, log, traced, samples.x[0], samples.x.length, samples.interpolated, this.made, ...heights];
    if (drawn.join() !== this.drawn) this.plots = drawView(this.svg, scene, width);
    this.drawn = drawn.join();
    drawPoint(this.moving, scene, this.plots, this.handles);
    this.refresh();
  }

  /** @param {string} name @param {number} delay @param {() => void} act */
  later(name, delay, act) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(act, delay);
  }

  /** Ask Python for the finer samples that the state wants. */
  ask() {
    const { request } = this.state;
    if (!request) return;
    this.later("ask", ASK_AFTER, () => {
      if (this.state.request?.id !== request.id) return;
      const { id, lo, hi, n } = request;
      this.model.send({ kind: "sample", id, lo, hi, n });
      this.later("give up", GIVE_UP_AFTER, () => {
        if (this.state.request?.id !== id) return;
        this.state.giveUp();
        this.draw();
      });
    });
  }

  /** Ask Python to sample another interval, or with other parameters. @param {{ lo: number, hi: number }} interval @param {Record<string, number>} [values] */
  remake({ lo, hi }, values) {
    const now = Object.fromEntries(Object.entries(this.model.get("parameters")).map(([name, slider]) => [name, slider[2]]));
    this.sought = { ...now, ...this.sought, ...values };
    this.later("remake", ASK_AFTER, () => this.model.send({ kind: "remake", lo, hi, values: this.sought ?? {} }));
  }

  /** Mirror what was done to Python, when it rests. */
  save() {
    this.later("save", SAVE_AFTER, () => {
      const { point, other, order, secant } = this.state;
      keep(this.model, { x: point.x, other: other.x, order, secant });
    });
  }

  /** Take what Python, or another view of the same widget, set. */
  changed() {
    const { state, model } = this;
    for (const [name, x] of /** @type {[HandleName, number][]} */ ([["point", model.get("x")], ["other", model.get("other")]])) {
      if (x !== state[name].x) state.place(name, x);
    }
    state.order = Math.min(model.get("order"), state.facts.names.length - 1);
    state.secant = model.get("secant");
    this.draw();
  }

  /** @param {number} pixel */
  toValue(pixel) {
    const { lo, hi } = this.state.view;
    return lo + ((pixel - this.plots[0].left) / this.plots[0].width) * (hi - lo);
  }

  /** A press takes the nearest handle there, which then follows the pointer. @param {number} x @param {number} y */
  take(x, y) {
    const { state, plots } = this;
    const named = /** @type {HandleName[]} */ (state.secant ? ["point", "other"] : ["point"]);
    const [{ left, top, toX, toY }] = plots;
    const handles = named.map(name => ({ name, x: left + toX(state[name].x), y: top + toY(state[name].values[0]) }));
    const chosen = /** @type {HandleName} */ (hit(handles, x, y, REACH));
    this.handles.get(chosen)?.focus({ preventScroll: true });
    return (/** @type {number} */ now) =>
      this.change(() => state.place(chosen, Math.min(Math.max(this.toValue(now), state.view.lo), state.view.hi)));
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("input, summary, button") && !["+", "-", "0"].includes(event.key)) return null;
    const act = keyAction(this.state, event, target === this.handles.get("other") ? "other" : "point");
    return act && (() => this.change(act));
  }
}

export default staged(Explorer, "lab-curves", "");
