// The graph panel: draws one view of the scene, paints states on it, pans and zooms.

import { drawing, element, setText } from "../dom.js";
import { followPointer, watchSize } from "../host.js";
import { cornerOf, drawBox, fitHead, paintBox } from "./boxes.js";
import { FAR, LETTERS, READABLE, TINY, fillChip, overhang, placeNumbers } from "./chips.js";
import { Colours } from "./colours.js";
import { drawEdge, paintEdge } from "./edges.js";
import { appear, glide } from "./motion.js";
import { Tip, boxAt } from "./tip.js";
import { twins } from "./trace.js";
import { centred, fitted, revealed, roomFor, zoomed } from "./viewport.js";
import { nothingRan } from "./words.js";

/** @import { View, Box } from "./scene.js" */
/** @import { State } from "./fold.js" */
/** @import { Look } from "./viewport.js" */
/** @import { BoxPicture } from "./boxes.js" */
/** @import { EdgePicture } from "./edges.js" */
/** @import { Trace } from "./trace.js" */
/** @import { ExplorerView } from "./widget.js" */

const TREE = "Right and left arrow: steps. I: an input, C: a consumer, Shift with down or up arrow: the one beside it. Enter: into a scope, U: out of it. Question mark: all keys.";
const SMALL_PRINT = 12;
/** More pixels than one takes. */
const SCROLL_BAR = 24;

/** The panel with the graph in it. */
export class GraphPanel {
  /** @param {ExplorerView} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.scene = explorer.scene;
    /** @type {View | null} */
    this.view = null;
    /** @type {BoxPicture[]} */
    this.boxes = [];
    /** @type {EdgePicture[]} */
    this.edges = [];
    /** @type {Map<number, number>} box of each application */
    this.homes = new Map();
    /** @type {State | null} */
    this.state = null;
    this.selected = -1;
    /** The edge that is selected, as a tensor; -1 for none. */
    this.taken = -1;
    /** @type {Look} */
    this.look = { x: 0, y: 0, scale: 1 };
    this.moved = false;
    /** The first picture, which sets the height of the panel. @type {View | null} */
    this.first = null;
    /** For which width of the panel and height of the window it was set. */
    this.suited = [0, 0];
    /** Whether the picture is where `look` says. */
    this.placed = false;
    /** Scale for which the names on chips were written; 0 for none. */
    this.written = 0;
    /** @type {{ width: number, height: number } | null} of the panel, when it is known */
    this.room = null;
    this.world = drawing("g", { class: "world" });
    this.halo = element("div", { class: "halo" });
    /** @type {Box | null} the box of the current step */
    this.home = null;
    this.canvas = drawing("svg", { class: "canvas", "aria-hidden": "true" }, this.world);
    this.colours = new Colours(this.scene, this.canvas);
    this.notice = element("p", { class: "notice" });
    this.tip = new Tip(this);
    this.enlarge = element("button", { type: "button", class: "enlarge", hidden: true, title: "Zoom in (+)", onclick: () => this.read() }, element("kbd", {}, "+"), " shows all numbers");
    this.element = element(
      "div",
      { class: "graph", tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-label": "Graph of the program", "aria-description": TREE },
      this.halo, this.canvas, this.notice, this.tip.element, this.enlarge,
    );
    this.listen();
  }

  /** Draw a view; `paint` must follow. @param {View} view */
  open(view) {
    this.view = view;
    this.selected = -1;
    this.taken = -1;
    this.trace(null);
    this.moved = false;
    const why = view.why || (view.boxes.length ? "" : nothingRan(this.scene));
    this.canvas.setAttribute("class", why ? "canvas absent" : "canvas");
    setText(this.notice, why);
    this.notice.hidden = !why;
    const layers = ["frames", "edges", "boxes", "shares"].map((name) => drawing("g", { class: name }));
    const [frames, edges, boxes, shares] = layers;
    this.edges = view.edges.map((edge, at) => drawEdge(this.scene, view, edge, at, shares));
    this.boxes = view.boxes.map((box) => drawBox(this.scene, box));
    edges.append(...this.edges.map((picture) => picture.group));
    view.boxes.forEach((box, at) => (box.kind === "frame" ? frames : boxes).append(this.boxes[at].group));
    this.world.replaceChildren(...layers);
    view.boxes.forEach((box, at) => fitHead(box, this.boxes[at].group));
    this.placed = false;
    this.written = 0;
    this.homes = new Map(view.boxes.flatMap((box) => [box.application, ...box.members].map((home) => [home, box.at])));
    this.homes.delete(-1);
    setText(this.tip.element, "");
    this.colours.show({ boxes: view.boxes, pictures: this.boxes });
  }

  /** Draw the same view with other folds open: boxes glide to their places, and what was selected stays so. @param {View} view */
  refold(view) {
    const { moved, look } = this;
    const before = new Map(this.view?.boxes.map((box) => [box.key, box]));
    const key = this.view?.boxes[this.selected]?.key;
    this.open(view);
    const chosen = view.boxes.find((box) => box.key === key && !box.outside);
    const old = before.get(key ?? "");
    this.moved = moved;
    if (moved && chosen && old) this.look = { ...look, x: look.x + (old.x - chosen.x) * look.scale, y: look.y + (old.y - chosen.y) * look.scale };
    if (moved) this.move(chosen ? revealed(this.look, chosen, this.size()) : this.look, true);
    view.boxes.forEach((box, at) => glide(this.boxes[at].group, before.get(box.key), box));
    for (const { group } of this.edges) appear(group);
    if (chosen) this.select(chosen.at, true);
  }

  /** @param {State} state */
  paint(state) {
    const { view } = this;
    if (!view) return;
    this.state = state;
    this.canvas.classList.toggle("going-back", state.phase === "backward");
    view.boxes.forEach((box, at) => paintBox(this.scene, state, box, this.boxes[at]));
    for (const picture of this.edges) paintEdge(this.scene, state, picture);
    const home = this.home = this.currentBox(state);
    if (!this.moved) this.lookAround(true);
    else if (home) this.move(revealed(this.look, home, this.size()), true);
    this.moveHalo(true);
    if (this.selected >= 0 && !this.tip.hushed) this.tip.box(this.selected);
  }

  /** The box of the current step; before the first step there is none. @param {State} state @returns {Box | null} */
  currentBox(state) {
    const home = state.now ? this.homes.get(state.now.application) : undefined;
    return home === undefined ? null : this.view?.boxes[home] ?? null;
  }

  /** The halo lies below the drawing: moved inside it, it would have everything above it composed again. @param {boolean} gliding */
  moveHalo(gliding) {
    const { halo, home, look } = this;
    halo.classList.toggle("gliding", gliding && halo.style.opacity === "1");
    halo.style.opacity = home ? "1" : "0";
    if (!home) return;
    const reach = Math.max(5 * look.scale, 4) + 2;
    const across = reach + overhang(home, look.scale);
    halo.style.transform = `translate(${home.x * look.scale + look.x - across}px, ${home.y * look.scale + look.y - reach}px)`;
    halo.style.width = `${home.width * look.scale + 2 * across}px`;
    halo.style.height = `${home.height * look.scale + 2 * reach}px`;
    halo.style.borderRadius = `${cornerOf(home) * look.scale + reach}px`;
  }

  size() {
    return this.room ?? { width: this.element.clientWidth || 800, height: this.element.clientHeight || 420 };
  }

  /** The first look, and again when the panel gets another size before anybody moved. */
  lookAround(gliding = false) {
    const { view, state } = this;
    if (!view || !state || !(this.room?.width ?? this.element.clientWidth)) return;
    if (!this.first) this.grow();
    this.move(fitted(view, this.size()), gliding && this.written >= 0);
  }

  /** The panel is as high as the first picture needs, up to most of the window; later views fit into it. */
  grow() {
    if (!this.room?.width || !this.view) return;
    this.first ??= this.view;
    const [across, down] = [this.room.width, this.element.ownerDocument.defaultView?.innerHeight ?? 800];
    // A scroll bar that comes with the new height and goes with the old one would have it change for ever.
    if (Math.abs(across - this.suited[0]) < SCROLL_BAR && down === this.suited[1]) return;
    this.suited = [across, down];
    this.explorer.setHeight(roomFor(this.first, across, down));
    this.room = { width: this.element.clientWidth, height: this.element.clientHeight };
  }

  fit() {
    if (this.view) this.move(fitted(this.view, this.size()), true);
    this.moved = true;
  }

  /** Zoom about a point of the panel, or gliding about its middle. @param {number} factor @param {number} [x] @param {number} [y] */
  zoom(factor, x, y) {
    const { width, height } = this.size();
    this.move(zoomed(this.look, factor, x ?? width / 2, y ?? height / 2), x === undefined);
    this.moved = true;
  }

  /** So large that every box shows its numbers, about the one of the step. */
  read() {
    const { view } = this;
    if (!view) return;
    const about = this.home ?? { x: 0, y: 0, width: view.width, height: view.height };
    this.move(centred({ ...this.look, scale: READABLE }, about, view, this.size()), true);
    this.moved = true;
    this.element.focus({ preventScroll: true });
  }

  /** @param {{ x: number, y: number, width: number, height: number }} area */
  centreOn(area) {
    if (this.view) this.move(centred(this.look, area, this.view, this.size()), true);
    this.moved = true;
  }

  /** @param {Look} look @param {boolean} [gliding] */
  move(look, gliding = false) {
    // Styles that are set again, even to what they were, are worked out again for every box.
    if (this.placed && look.x === this.look.x && look.y === this.look.y && look.scale === this.look.scale) return;
    this.placed = true;
    this.look = look;
    this.world.classList.toggle("gliding", gliding);
    this.world.style.transform = `translate(${look.x}px, ${look.y}px) scale(${look.scale})`;
    this.moveHalo(gliding);
    this.writeChips(look.scale);
  }

  /** Where numbers could not be read, names are written large. @param {number} scale */
  writeChips(scale) {
    const small = scale < READABLE;
    this.canvas.classList.toggle("chips", small);
    this.canvas.classList.toggle("far", scale < FAR);
    this.canvas.classList.toggle("tiny", scale < TINY);
    this.canvas.style.setProperty("--scale", String(Math.min(scale, 1)));
    const letters = `${Math.max(SMALL_PRINT, LETTERS / Math.max(scale, FAR)).toFixed(1)}px`;
    if (this.canvas.style.getPropertyValue("--letters") !== letters) this.canvas.style.setProperty("--letters", letters);
    if (!small) this.enlarge.hidden = true;
    if (!small || scale === this.written || !this.view) return;
    this.written = scale;
    let hides = false;
    this.view.boxes.forEach((box, at) => {
      if (box.kind === "frame") return;
      fillChip(box, this.boxes[at].chip, scale, Boolean(this.boxes[at].value?.cells));
      hides = placeNumbers(box, this.boxes[at], scale) || hides;
    });
    this.enlarge.hidden = !hides;
  }

  /**
   * Mark a box as selected and light up its value and all that use it; -1 for none.
   * @param {number} at
   * @param {boolean} [pointed] what is under the pointer stays there, so that a second click finds it
   */
  select(at, pointed = false) {
    this.tip.hushed = false;
    this.take(-1);
    this.boxes[this.selected]?.group.classList.remove("selected");
    this.selected = at;
    this.boxes[at]?.group.classList.add("selected");
    const box = this.view?.boxes[at];
    this.light(box?.tensors ?? [], box);
    if (!box) return;
    if (!pointed) this.move(revealed(this.look, box, this.size()), true);
    this.tip.box(at);
  }

  /** Select an edge; -1 for none. @param {number} at */
  take(at) {
    this.edges[this.taken]?.group.classList.remove("selected");
    if (at >= 0) this.select(-1);
    this.taken = at;
    const picture = this.edges[at];
    picture?.group.classList.add("selected");
    if (picture) this.light([picture.edge.tensor]);
    if (picture) this.tip.tensor(picture.edge.tensor);
  }

  /** Let everything step back but a trace; null for none. @param {Trace | null} trace */
  trace(trace) {
    this.world.classList.toggle("tracing", trace !== null);
    this.flag("traced", trace?.boxes ?? []);
    this.edges.forEach(({ group }, at) => group.classList.toggle("traced", Boolean(trace?.edges.has(at))));
  }

  /** Light up tensors: their edges and every box that takes them; of a box, its twins too. @param {number[]} tensors @param {Box} [box] */
  light(tensors, box) {
    const wanted = new Set(tensors);
    this.flag("twin", box && this.view ? twins(this.scene, this.view, box) : []);
    const lit = new Set();
    for (const { edge, group } of this.edges) {
      const on = wanted.has(edge.tensor);
      group.classList.toggle("lit", on);
      if (on) lit.add(edge.source).add(edge.target);
    }
    this.flag("lit", lit);
    const made = box ? [box.application, ...box.members] : tensors.map((tensor) => this.scene.tensors.get(tensor)?.application ?? -1);
    this.explorer.source?.point(made);
  }

  /** Give a class to some boxes, and take it from all others. @param {string} name @param {Iterable<number>} places */
  flag(name, places) {
    const flagged = new Set(places);
    this.boxes.forEach(({ group }, at) => group.classList.toggle(name, flagged.has(at)));
  }

  listen() {
    const { signal } = this.explorer.stop;
    const panel = this.element;
    panel.addEventListener("pointerdown", (event) => this.grab(event), { signal });
    this.canvas.addEventListener("dblclick", (event) => this.explorer.enter(boxAt(/** @type {Element} */ (event.target))), { signal });
    panel.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
    this.tip.listen(signal);
    watchSize(panel, () => this.resize(), signal);
    // A window that only gets lower or higher leaves the panel as it is.
    panel.ownerDocument.defaultView?.addEventListener("resize", () => this.resize(), { signal });
  }

  /** The drawing has a size in pixels: a flexible one would be laid out again, twice, whenever the card changes. */
  resize() {
    this.room = { width: this.element.clientWidth, height: this.element.clientHeight };
    // In a tab that is hidden nothing has a size. A height found for one window is not kept for the next.
    if (!this.room.width) return;
    this.explorer.header.fit();
    this.grow();
    this.canvas.style.width = `${this.room.width}px`;
    this.canvas.style.height = `${this.room.height}px`;
    if (this.moved) this.move({ ...this.look });
    else this.lookAround();
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button !== 0 || !(event.target instanceof Element) || event.target.closest("button")) return;
    const started = { x: event.clientX, y: event.clientY, look: this.look };
    const at = boxAt(event.target);
    const shut = event.target.closest(".close");
    const edge = event.target.closest(".edge")?.getAttribute("data-edge");
    let dragged = false;
    const drag = (/** @type {PointerEvent} */ moved) => {
      const x = moved.clientX - started.x;
      const y = moved.clientY - started.y;
      dragged ||= Math.hypot(x, y) > 4;
      if (!dragged) return;
      this.moved = true;
      this.move({ x: started.look.x + x, y: started.look.y + y, scale: started.look.scale });
    };
    const drop = (/** @type {boolean} */ cancelled) => {
      if (dragged || cancelled) return;
      if (shut) this.explorer.enter(at);
      else if (edge) this.explorer.tracer.take(Number(edge));
      else if (event.shiftKey) this.explorer.tracer.path(this.explorer.focus(), at);
      else this.explorer.choose(at);
    };
    followPointer(this.element.ownerDocument, this.explorer.stop.signal, drag, drop);
  }

  /** Ctrl and the wheel zoom, and so does pinching; the plain wheel scrolls the page. @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const frame = this.element.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), event.clientX - frame.left, event.clientY - frame.top);
  }
}
