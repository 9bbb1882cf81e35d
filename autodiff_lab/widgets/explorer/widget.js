// The explorer: puts the parts together for one view of the model.  The state is the integer `step` (and which scope is
// open, `view`); everything shown follows from it by `fold`, and the kernel is never waited for.

import { attend, giveBack, stick } from "../host.js";
import { Changes } from "../running/changes.js";
import {} from "../running/families.js";
import { Program } from "../running/program.js";
import { Tuner } from "../running/tuner.js";
import { Asker } from "./asking.js";
import { Breakpoints } from "./breakpoints.js";
import { paintCard, paintTensor } from "./card.js";
import { keysOf } from "./commands.js";
import { copyInFull, element, setText } from "./dom.js";
import { fold, stepOf } from "./fold.js";
import { Folds } from "./folds.js";
import { GraphPanel } from "./graph.js";
import { makeHeader, makePath, makeRemarks } from "./header.js";
import { jump } from "./jump.js";
import { listenToKeys, makeHelp } from "./keys.js";
import { Passes } from "./passes.js";
import { decode, isInside, stepsIn, turnOf, unpack } from "./scene.js";
import { makeSlots } from "./slots.js";
import { SourcePanel } from "./source.js";
import { TraceTable } from "./table.js";
import { beside } from "./trace.js";
import { Tracer } from "./tracer.js";
import { makeTransport } from "./transport.js";
import { clamp } from "./viewport.js";
import { liveLine } from "./words.js";

/** @import { State } from "./fold.js" */
/** @typedef {{ scene: any, size: string, step: number, view: string, unfolded: string[], ask: boolean, solved: number, passes: number[], wants_focus: boolean }} Traits */
/** @typedef {import("@anywidget/types").AnyModel<Traits>} Model */

/** One view of the model on the page. */
export class ExplorerView {
  /** @param {Model} model @param {HTMLElement} place @param {any} payload */
  constructor(model, place, payload) {
    this.model = model;
    this.scene = decode(payload);
    this.stop = new AbortController();
    const { signal } = this.stop;
    const go = (/** @type {number} */ step) => this.go(step);
    this.graph = new GraphPanel(this.scene, {
      select: (at, other) => (other ? this.tracer.path(this.focus(), at) : this.choose(at)),
      take: (edge) => this.tracer.take(edge),
      enter: (at) => this.enter(at),
      grown: (height) => this.grow(height),
      pointed: (applications) => this.source?.point(applications),
      signal,
    });
    this.source = new SourcePanel(this.scene, this.graph, { pick: (at) => this.pick(at), signal });
    this.folds = new Folds(this.scene, model, this.graph, { focus: () => this.focus(), scope: () => this.scope(), open: (path) => this.open(path), say: (text) => this.say(text) });
    this.tracer = new Tracer(this.scene, this.graph, {
      focus: () => this.focus(), step: () => this.step(), go, show: (path) => this.reveal(path), say: (text) => this.say(text), card: () => this.state && this.paintCard(this.state),
    });
    this.card = element("section", { class: "card", tabindex: 0, "aria-label": "Step" });
    this.asker = new Asker(this.scene, model, this.card, { stop: () => this.transport.stop(), back: () => this.graph.element.focus({ preventScroll: true }) });
    this.slots = makeSlots(this.scene, go, signal);
    this.passes = new Passes(this.scene, model, this.graph, { step: () => this.step(), go, say: (text) => this.say(text), focus: () => this.focus(), signal });
    const { running } = payload;
    this.changes = new Changes(this.scene, running, running && !running.off ? new Program(running) : null);
    this.tuner = new Tuner(this.changes, this.graph, {
      paint: (quiet) => this.paint(quiet), select: (at) => this.choose(at), say: (text) => this.say(text), back: () => this.graph.element.focus({ preventScroll: true }), signal,
    });
    this.breakpoints = new Breakpoints(this.scene, { step: () => this.step(), go, say: (text) => this.say(text), back: () => this.graph.element.focus({ preventScroll: true }), signal });
    const size = element("p", { class: "size" }, model.get("size") ?? "");
    this.live = element("p", { class: "live", "aria-live": "polite" });
    this.table = new TraceTable(this.scene, (application) => this.goTo(application), signal);
    this.path = makePath(this.scene, (path) => this.open(path), (by) => this.turn(by), signal);
    this.transport = makeTransport(this.scene, {
      step: () => this.step(), go, signal, color: (what) => this.graph.colours.by(what), show: (what, on) => this.root.classList.toggle(`without-${what}`, !on),
    });
    this.keys = keysOf(this);
    this.help = makeHelp(this.keys);
    this.header = makeHeader(this.scene, {
      go, signal, open: (path) => this.open(path), source: () => this.source.toggle(this.root, this.state), full: () => this.fillScreen(),
      show: (view, at) => this.find(view, at), mark: (found) => this.mark(found),
    }, this.menu());
    this.root = element(
      "div",
      { class: "autodiff-lab explorer without-shapes", role: "group", "aria-label": `Explorer: ${this.scene.title}` },
      this.header.element, this.slots.element, this.passes.element, this.live, ...makeRemarks(this.scene, (cut) => this.tracer.showCut(cut), signal),
      element("div", { class: "panels" }, this.source.element, element("div", { class: "stage" }, this.path.element, this.graph.element), this.card),
      this.transport.element, this.breakpoints.element, this.tuner.element, this.help, size, this.table.element,
    );
    this.listen();
    place.append(this.root);
    attend(model, this.root, this.graph.element, signal);
    stick(this.live, this.root, signal);
    this.shownView = "";
    this.openView();
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
      this.graph.element.focus({ preventScroll: true });
    }, { signal });
    this.root.addEventListener("closed", () => this.closeSearch(), { signal });
    this.root.addEventListener("copy", (event) => copyInFull(event, this.root), { signal });
    const paint = () => this.paint();
    const acts = { step: paint, solved: paint, ask: paint, view: () => this.openView(), unfolded: () => this.refold(), passes: () => this.repaint() };
    for (const [trait, act] of Object.entries(acts)) {
      const event = /** @type {"change:step"} */ (`change:${trait}`);
      model.on(event, act);
      signal.addEventListener("abort", () => model.off(event, act));
    }
    signal.addEventListener("abort", () => this.root.remove());
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
    if (next === this.step()) {
      if (this.asker.asks) this.paint();
      return;
    }
    this.model.set("step", next);
    this.model.save_changes();
  }

  /** @param {string} path */
  open(path) {
    if (!this.scene.views.has(path) || path === this.shownView) return;
    this.model.set("view", path);
    this.model.save_changes();
  }

  openView() {
    const wanted = this.model.get("view");
    const view = this.scene.views.get(wanted) ?? this.scene.views.get("");
    if (!view) return;
    const left = this.shownView;
    this.shownView = view.path;
    this.tracer.forget();
    this.graph.open(this.folds.view(view.path));
    this.dress();
    this.path.open(view.path);
    this.root.dataset.view = view.path;
    if (view.why) this.showTable(true);
    if (this.state) this.paintGraph(this.state);
    const home = this.graph.view?.boxes.find((box) => box.key === `s${left}` || box.turns.some((turn) => isInside(left, turn)));
    if (home && left.startsWith(view.path)) this.graph.select(home.at);
    this.header.finder.repeat();
  }

  /** Draw the picture again after folds were opened or closed in place. */
  refold() {
    this.tracer.forget();
    this.graph.refold(this.folds.view(this.shownView));
    this.dress();
    if (this.state) this.paintGraph(this.state);
    this.header.finder.repeat();
  }

  /** What boxes show beside their values, after they were drawn. */
  dress() {
    this.tuner.dress();
    this.passes.paint();
  }

  /** Other passes are chosen. */
  repaint() {
    this.passes.paint();
    this.paint(true);
  }

  /** Let the inside of a scope be seen: in place where it lies in what is shown, else by itself. @param {string} path */
  reveal(path) {
    if (isInside(path, this.shownView)) this.folds.reveal(this.shownView, path);
    else this.open(path);
  }

  /** @param {boolean} [quiet] while a number is dragged nothing is announced */
  paint(quiet = false) {
    /** @type {State | undefined} */
    this.state = fold(this.scene, this.step());
    this.changes.prepare(this.state.now);
    const spoken = liveLine(this.scene, this.state);
    this.goAlong(this.state);
    this.paintGraph(this.state);
    const asked = this.paintCard(this.state);
    this.slots.paint(this.state);
    this.table.paint(this.passes.shown(this.state));
    this.header.paint(this.state);
    this.transport.paint(this.state, spoken);
    this.tuner.paint();
    this.source.paint(this.state);
    if (!quiet) setText(this.live, asked || spoken);
    this.root.dataset.step = String(this.state.step);
    this.root.dataset.application = String(this.state.now?.application ?? -1);
  }

  /** The card of a tensor that was asked for, of the step, or the question of the next one, whose words are returned. @param {State} state */
  paintCard(state) {
    const tensor = this.scene.tensors.get(this.tracer.told);
    if (tensor) paintTensor(this.card, this.scene, this.passes.shown(state), tensor, (number) => this.changes.current(number) ?? this.changes.program?.baseline().values[number]);
    else paintCard(this.card, this.scene, state);
    const asked = tensor ? "" : this.asker.paint(state);
    if (!asked) this.card.append(...this.passes.card(state));
    return asked;
  }

  /** In a loop one turn is open, and the picture goes along to the turn of the current step. @param {State} state */
  goAlong(state) {
    const turn = turnOf(this.scene, this.shownView);
    const scope = this.scope();
    if (state.now) this.folds.follow(scope);
    if (!turn || !state.now || isInside(scope, turn.path)) return;
    const other = turn.turns.find((path) => isInside(scope, path));
    if (other === undefined) return;
    const same = other + this.shownView.slice(turn.path.length);
    this.open(this.scene.views.has(same) && isInside(scope, same) ? same : other);
  }

  /** In which the current step ran. */
  scope() {
    return this.scene.applications.get(this.state?.now?.application ?? -1)?.scope ?? "";
  }

  /** To the same step of the next turn of the loop, or of the one before. @param {1 | -1} by */
  turn(by) {
    if (!this.state) return;
    const turn = turnOf(this.scene, this.shownView) ?? turnOf(this.scene, this.scope()) ?? this.folds.turn();
    const next = turn?.turns[turn.at + by];
    if (!turn || next === undefined) return;
    const here = stepsIn(this.scene, turn.path).indexOf(this.state.step);
    const there = stepsIn(this.scene, next);
    this.go(there[Math.min(Math.max(here, 0), there.length - 1)]);
  }

  /** @param {State} state */
  paintGraph(state) {
    this.graph.paint(this.passes.shown(state));
    this.path.paint(state, this.graph.currentBox(state) !== null);
  }

  /** @param {number} application */
  goTo(application) {
    if (this.state) this.go(stepOf(this.scene, this.state, application));
  }

  /** A click on a box: select it and go to its step; on empty ground: select nothing. @param {number} at */
  choose(at) {
    this.graph.element.focus({ preventScroll: true });
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
    else if (box.members.length) this.reveal(this.folds.inside(box));
    else if (box.application >= 0) this.goTo(box.application);
    else this.tuner.edit();
    return undefined;
  }

  /** The card is as high as the graph. @param {number} height */
  grow(height) {
    this.root.style.setProperty("--explorer-height", `${height}px`);
  }

  /** To full screen and back; where the host forbids it, say so. */
  fillScreen() {
    const page = this.root.ownerDocument;
    const done = page.fullscreenElement ? page.exitFullscreen() : this.root.requestFullscreen?.();
    if (done) done.catch(() => this.say("This page does not allow full screen."));
    else this.say("This browser has no full screen.");
  }

  /** Escape: close what is open, else select nothing, else go one scope out, else give the focus back. */
  leave() {
    if (!this.help.hidden) this.help.hidden = true;
    else if (!this.header.finder.element.hidden) this.closeSearch();
    else if (this.tracer.traced || this.tracer.anchor >= 0) this.tracer.untrace();
    else if (this.graph.selected >= 0 || this.tracer.told >= 0) {
      this.graph.select(-1);
      this.tracer.tell(-1);
    }
    else if (this.shownView) this.open(this.shownView.split("/").slice(0, -1).join("/"));
    else giveBack(this.root);
  }

  closeSearch() {
    this.header.finder.close();
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

  /** To an input or a consumer; pressing again goes round all of them. @param {1 | -1} way */
  follow(way) {
    const { view, edges, taken } = this.graph;
    const edge = edges[taken]?.edge;
    const next = edge ? [way > 0 ? edge.target : edge.source] : view ? beside(view, this.focus(), way) : [];
    if (next.length) this.pick(next[0]);
    else this.say(way > 0 ? "Nothing uses this value in this view." : "This node has no inputs.");
  }

  /** @param {number} at */
  pick(at) {
    this.graph.select(at);
    this.show(at);
    this.say((this.graph.inspector.textContent ?? "").split("\n").join("; "));
  }

  /** A node was selected: the card and the fields follow. @param {number} at */
  show(at) {
    this.tracer.tell(-1);
    this.tuner.show(at);
    if (this.state && this.passes.pair().length > 1) this.paintCard(this.state);
  }

  /** @param {string} text */
  say(text) {
    setText(this.live, text);
  }

  /** @param {string} view @param {number} at */
  find(view, at) {
    this.reveal(view);
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
    this.graph.mark(new Set(this.graph.view?.boxes.flatMap((box) => (keys.has(box.key) && !box.outside ? [box.at] : []))));
  }

  showTable(on = this.table.element.hidden) {
    this.table.element.hidden = !on;
    if (on && this.state) this.table.paint(this.state);
  }

  menu() {
    const zoom = (/** @type {1 | -1} */ way) => () => this.graph.zoomByKey(way);
    return [
      { label: "Trace table", key: "t", act: () => this.showTable() },
      { label: "Fit to the panel", key: "f", act: () => this.graph.fit() },
      { label: "Zoom in", key: "+", act: zoom(1) },
      { label: "Zoom out", key: "−", act: zoom(-1) },
      { label: "Keys", key: "?", act: () => this.showHelp() },
    ];
  }

  showHelp() {
    this.help.hidden = !this.help.hidden;
  }
}

/** @type {import("@anywidget/types").Render<Traits>} */
async function render({ model, el }) {
  const view = new ExplorerView(model, el, await unpack(model.get("scene")));
  return () => view.stop.abort();
}

export default { render };
