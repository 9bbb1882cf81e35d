// The explorer: puts the parts together for one view of the model.  The state is the integer `step` (and which scope is
// open, `unfolded`); everything shown follows from it by `fold`, and the kernel is never waited for.

import { element, setText } from "../dom.js";
import { attend, giveBack, keep, listenToTraits, stick } from "../host.js";
import { Changes } from "../running/changes.js";
import {} from "../running/families.js";
import { Program } from "../running/program.js";
import { Tuner } from "../running/tuner.js";
import { Asker } from "./asking.js";
import { Breakpoints } from "./breakpoints.js";
import { paintCard, paintTensor } from "./card.js";
import { keysOf } from "./commands.js";
import { copyInFull } from "./dom.js";
import { fold, stepOf } from "./fold.js";
import { Folds } from "./folds.js";
import { GraphPanel } from "./graph.js";
import { makeHeader, makeRemarks } from "./header.js";
import { jump } from "./jump.js";
import { listenToKeys, makeHelp } from "./keys.js";
import { Passes } from "./passes.js";
import { decode, stepsIn, turnOf, unpack } from "./scene.js";
import { makeSlots } from "./slots.js";
import { Sound } from "./sound.js";
import { SourcePanel } from "./source.js";
import { TraceTable } from "./table.js";
import { beside } from "./trace.js";
import { frameOf } from "./unfold.js";
import { Tracer } from "./tracer.js";
import { makeTransport } from "./transport.js";
import { clamp } from "./viewport.js";
import { liveLine } from "./words.js";

/** @import { State } from "./fold.js" */
/** @typedef {{ scene: any, size: string, step: number, unfolded: string[], ask: boolean, solved: number, passes: number[], wants_focus: boolean }} Traits */
/** @typedef {import("@anywidget/types").AnyModel<Traits>} Model */

/** One view of the model on the page. */
export class ExplorerView {
  /** @param {Model} model @param {HTMLElement} place @param {any} payload */
  constructor(model, place, payload) {
    this.model = model;
    this.scene = decode(payload);
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.graph = new GraphPanel(this);
    this.source = new SourcePanel(this);
    this.folds = new Folds(this);
    this.tracer = new Tracer(this);
    this.card = element("section", { class: "card", tabindex: 0, "aria-label": "Step" });
    this.asker = new Asker(this);
    this.slots = makeSlots(this.scene, (step) => this.go(step));
    this.passes = new Passes(this);
    const { running } = payload;
    this.changes = new Changes(this.scene, running, running && !running.off ? new Program(running) : null);
    this.tuner = new Tuner(this, this.changes);
    this.breakpoints = new Breakpoints(this);
    const size = element("p", { class: "size" }, model.get("size") ?? "");
    const thinned = (size.textContent ?? "").includes("keeps everything"); // what was left out is to be seen at once
    this.live = element("p", { class: "live", "aria-live": "polite" });
    this.table = new TraceTable(this);
    this.sound = new Sound(this);
    /** The inputs or consumers of a node among which the selected one was come to. @type {{ view: import("./scene.js").View | null, next: number[], what: string, name: string }} */
    this.branch = { view: null, next: [], what: "", name: "" };
    this.transport = makeTransport(this);
    this.keys = keysOf(this);
    this.help = makeHelp(this.keys);
    this.header = makeHeader(this, thinned ? [] : [size]);
    this.root = element(
      "div",
      { class: "autodiff-lab explorer without-shapes", role: "group", "aria-label": `Explorer: ${this.scene.title}` },
      this.header.element, this.slots.element, this.passes.element, this.live, ...makeRemarks(this.scene, (cut) => this.tracer.showCut(cut)),
      element("div", { class: "panels" }, this.source.element, element("div", { class: "stage" }, this.graph.element), this.card),
      this.transport.element, this.breakpoints.element, this.tuner.element, this.help, ...(thinned ? [size] : []), this.table.element,
    );
    this.listen();
    place.append(this.root);
    attend(model, this.root, this.graph.element, signal);
    stick(this.live, this.root, signal);
    this.graph.open(this.folds.drawn());
    if (this.scene.views.get("")?.why) this.table.toggle();
    this.dress();
    this.paint();
  }

  listen() {
    const { signal } = this.stop;
    const { model } = this;
    listenToKeys(this.root, this.keys, signal);
    this.card.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("button[data-application]") : null;
      if (event.target instanceof Element && event.target.closest("button.place")) setTimeout(() => this.jump()); // after the notebook took the click
      if (!link) return;
      this.goTo(Number(link.getAttribute("data-application")));
      this.back();
    }, { signal });
    this.root.addEventListener("copy", (event) => copyInFull(event, this.root), { signal });
    const paint = () => this.paint();
    listenToTraits(model, ["step", "solved", "ask"], paint, signal);
    listenToTraits(model, ["unfolded"], () => this.refold(), signal);
    listenToTraits(model, ["passes"], () => { this.passes.paint(); this.paint(true); }, signal);
    signal.addEventListener("abort", () => this.root.remove());
  }

  /** Of the graph, and of the card beside it. @param {number} height */
  setHeight(height) {
    this.root.style.setProperty("--explorer-height", `${height}px`);
  }

  step() {
    return clamp(Math.trunc(Number(this.model.get("step")) || 0), 0, this.asker.limit());
  }

  /** @param {number} step */
  go(step) {
    const limit = this.asker.limit();
    const next = clamp(step, 0, limit);
    this.asker.asks = step > limit && limit < this.scene.last;
    this.tracer.tell(-1);
    this.graph.tip.hush();
    if (next === this.step()) {
      if (this.asker.asks) this.paint();
      return;
    }
    keep(this.model, { step: next });
  }

  /** Draw the picture again after folds were opened or closed in place. */
  refold() {
    this.tracer.forget();
    this.graph.refold(this.folds.drawn());
    this.dress();
    if (this.state) this.graph.paint(this.passes.shown(this.state));
    this.header.finder.repeat();
  }

  /** What boxes show beside their values, after they were drawn. */
  dress() {
    this.tuner.dress();
    this.passes.paint();
  }

  /** @param {boolean} [quiet] while a number is dragged nothing is announced */
  paint(quiet = false) {
    /** @type {State | undefined} */
    this.state = fold(this.scene, this.step());
    this.changes.prepare(this.state.now);
    const spoken = liveLine(this.scene, this.state);
    if (this.state.now) this.folds.follow(this.scope());
    this.graph.paint(this.passes.shown(this.state));
    const asked = this.paintCard();
    this.slots.paint(this.state);
    this.table.paint(this.state);
    this.header.paint(this.state);
    this.transport.paint(this.state, spoken);
    this.tuner.paint();
    this.source.paint(this.state);
    if (!quiet) setText(this.live, asked || spoken);
    if (!quiet) this.sound.play(this.state);
    this.root.dataset.step = String(this.state.step);
    this.root.dataset.application = String(this.state.now?.application ?? -1);
  }

  /** The card of a tensor that was asked for, of the step, or the question of the next one, whose words are returned. */
  paintCard() {
    const { state } = this;
    if (!state) return "";
    const tensor = this.scene.tensors.get(this.tracer.told);
    if (tensor) paintTensor(this.card, this.scene, this.passes.shown(state), tensor, (number) => this.changes.current(number) ?? this.changes.program?.baseline().values[number]);
    else paintCard(this.card, this.scene, state);
    const asked = tensor ? "" : this.asker.paint(state);
    if (!asked) this.card.append(...this.passes.card(state));
    return asked;
  }

  /** In which the current step ran. */
  scope() {
    return this.scene.applications.get(this.state?.now?.application ?? -1)?.scope ?? "";
  }

  /** To the same step of the next turn of the loop, or of the one before. @param {1 | -1} by */
  turn(by) {
    if (!this.state) return;
    const turn = turnOf(this.scene, this.scope()) ?? this.folds.turn();
    const next = turn?.turns[turn.at + by];
    if (!turn || next === undefined) return;
    const here = stepsIn(this.scene, turn.path).indexOf(this.state.step);
    const there = stepsIn(this.scene, next);
    this.go(there[Math.min(Math.max(here, 0), there.length - 1)]);
  }

  /** @param {number} application */
  goTo(application) {
    if (this.state) this.go(stepOf(this.scene, this.state, application));
    this.graph.tip.speak();
  }

  /** A click on a box: select it and go to its step; on empty ground: select nothing. @param {number} at */
  choose(at) {
    this.back();
    this.graph.select(at, true);
    this.show(at);
    const box = this.graph.view?.boxes[at];
    if (box && box.application >= 0) this.goTo(box.application);
  }

  /** Open a box: a scope shows its inside, an op its step. @param {number} at */
  enter(at) {
    const carried = this.scene.tensors.get(this.graph.edges[this.graph.taken]?.edge.tensor ?? -1);
    if (carried && carried.application >= 0) return this.goTo(carried.application);
    const box = this.graph.view?.boxes[at];
    if (!box) return undefined;
    if (box.members.length && !box.outside) this.folds.fold(at);
    else if (box.members.length) this.folds.reveal(this.folds.inside(box));
    else if (box.application >= 0) this.goTo(box.application);
    else this.tuner.edit();
    return undefined;
  }

  /** To full screen and back; where the host forbids it, say so. */
  fillScreen() {
    const page = this.root.ownerDocument;
    const done = page.fullscreenElement ? page.exitFullscreen() : this.root.requestFullscreen?.();
    if (done) done.catch(() => this.say("This page does not allow full screen."));
    else this.say("This browser has no full screen.");
  }

  /** Escape: close what is open, else select nothing, else give the focus back. */
  leave() {
    if (!this.help.hidden) this.help.hidden = true;
    else if (!this.header.finder.element.hidden) this.closeSearch();
    else if (this.tracer.traced || this.tracer.anchor >= 0) this.tracer.untrace();
    else if (this.graph.selected >= 0 || this.tracer.told >= 0) {
      this.graph.select(-1);
      this.tracer.tell(-1);
    }
    else giveBack(this.root);
  }

  closeSearch() {
    this.header.finder.close();
    this.back();
  }

  /** The keys go to the graph. */
  back() {
    this.graph.element.focus({ preventScroll: true });
  }

  /** The box that keys speak of: the selected one, else the current one. */
  focus() {
    if (this.graph.selected >= 0) return this.graph.selected;
    return this.state ? this.graph.currentBox(this.state)?.at ?? -1 : -1;
  }

  /** To the line of the step, in the notebook around. */
  jump() {
    this.say(jump(this.root, this.scene.applications.get(this.state?.now?.application ?? -1)?.place));
  }

  /** @param {number} by */
  walk(by) {
    const count = this.graph.boxes.length;
    if (count) this.pick((this.focus() + by + count) % count);
  }

  /** To an input or a consumer, or from a frame to what is in it. @param {1 | -1} way */
  follow(way) {
    const { view, edges, taken } = this.graph;
    const edge = edges[taken]?.edge;
    const from = view?.boxes[this.focus()];
    const inside = view && from?.kind === "frame" ? view.boxes.flatMap((one) => (one !== from && frameOf(view, one.at) === from ? [one.at] : [])) : null;
    const next = edge ? [way > 0 ? edge.target : edge.source] : inside ?? (view && from ? beside(view, from.at, way) : []);
    const what = inside ? "node" : way > 0 ? "consumer" : "input";
    this.branch = { view, next, what: edge ? "end" : what, name: from ? from.name || (this.scene.applications.get(from.application)?.op.name ?? from.label) : "this edge" };
    if (next.length) this.pick(next[inside && way < 0 ? next.length - 1 : 0], true);
    else this.say(way > 0 ? "Nothing uses this value in this view." : "This node has no inputs.");
  }

  /** To the node beside the selected one, among the inputs or consumers to which it belongs. @param {1 | -1} by */
  along(by) {
    const { view, next } = this.branch;
    const at = view === this.graph.view ? next.indexOf(this.graph.selected) : -1;
    if (at >= 0) this.pick(next[(at + by + next.length) % next.length], true);
    else this.say("Go to an input (i) or to a consumer (c) first.");
  }

  /** @param {number} at @param {boolean} [branched] whether it was come to along a branch, which is said first */
  pick(at, branched = false) {
    this.graph.select(at);
    this.show(at);
    const { next, what, name } = this.branch;
    const first = branched ? `${what} ${next.indexOf(at) + 1} of ${next.length} of ${name}: ` : "";
    this.say(first + (this.graph.tip.element.textContent ?? "").split("\n").join("; "));
  }

  /** A node was selected: the card and the fields follow. @param {number} at */
  show(at) {
    this.tracer.tell(-1);
    this.tuner.show(at);
    if (this.passes.pair().length > 1) this.paintCard();
  }

  /** @param {string} text */
  say(text) {
    setText(this.live, text);
  }

  /** @param {{ view: string, at: number }} found */
  find({ view, at }) {
    this.folds.reveal(view);
    const key = this.scene.views.get(view)?.boxes[at].key;
    const box = this.graph.view?.boxes.find((one) => one.key === key && !one.outside);
    this.graph.select(box?.at ?? -1);
    if (!box) return;
    this.graph.centreOn(box);
    this.tracer.tell(box.tensors[0] ?? -1);
  }

  /** @param {{ view: string, at: number }[]} found */
  mark(found) {
    const keys = new Set(found.map(({ view, at }) => this.scene.views.get(view)?.boxes[at].key));
    this.graph.flag("found", this.graph.view?.boxes.flatMap((box) => (keys.has(box.key) && !box.outside ? [box.at] : [])) ?? []);
  }
}

/** @type {import("@anywidget/types").Render<Traits>} */
async function render({ model, el }) {
  const view = new ExplorerView(model, el, await unpack(model.get("scene")));
  return () => view.stop.abort();
}

export default { render };
