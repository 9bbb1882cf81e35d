// The source beside the graph: the lines of the program that were recorded.  The line of the step is marked; a line lights up
// its nodes, and a node its lines.

import { element } from "../dom.js";
import { bringIntoView, onKeys } from "../host.js";
import { Part } from "./part.js";

/** @import { State } from "./fold.js" */
/** @import { Place } from "./scene.js" */
/** @import { ExplorerView } from "./widget.js" */
/** @typedef {{ place: Place | null, row: HTMLElement }} Line */

/** The panel, hidden at first. */
export class SourcePanel extends Part {
  /** @param {ExplorerView} view */
  constructor(view) {
    super(view);
    const { scene, graph } = this;
    /** @type {Line[]} */
    this.lines = [];
    this.chosen = -1;
    this.ran = new Set([...scene.applications.values()].map(({ place }) => place));
    const files = scene.source.map(({ name, lines }) => element("div", {}, element("h3", {}, name), element("ol", {}, ...lines.map((line, at) => this.lineOf(line, lines[at - 1]?.number ?? 0)))));
    if (!files.length) files.push(element("div", {}, element("p", { class: "detail" }, "This recording has no source lines.")));
    this.element = element("section", {
      class: "source", tabindex: 0, role: "region", "aria-label": "Source", hidden: true,
      onclick: (/** @type {Event} */ event) => this.choose(this.at(event)),
      onpointerover: (/** @type {Event} */ event) => this.light(this.at(event)),
      onpointerleave: () => graph.tip.leave(),
    }, ...files);
    onKeys(this.element, { ArrowDown: () => this.walk(1), ArrowUp: () => this.walk(-1) });
  }

  /** To the next line with ops, or the one before. @param {1 | -1} by */
  walk(by) {
    const places = this.lines.flatMap(({ place }, at) => (place ? [at] : []));
    const now = places.indexOf(this.chosen);
    if (places.length) this.choose(places[(now < 0 && by < 0 ? places.length - 1 : now + by + places.length) % places.length]);
  }

  /** @param {{ number: number, text: string, place: Place | null }} line @param {number} before the number of the line above */
  lineOf({ number, text, place: own }, before) {
    const place = this.ran.has(own) ? own : null;
    const row = element("li", { value: number, class: before && number > before + 1 ? "skipped" : undefined, "data-line": this.lines.length, "data-ops": place ? "yes" : undefined }, element("code", {}, text));
    this.lines.push({ place, row });
    return row;
  }

  /** @param {Event} event */
  at(event) {
    const row = event.target instanceof Element ? event.target.closest("li") : null;
    return row ? Number(row.dataset.line) : -1;
  }

  /** The nodes that ran on a line, folds among them where their ops are not in sight. @param {number} line @returns {number[]} */
  nodesOf(line) {
    const place = this.lines[line]?.place;
    const homes = [...this.scene.applications.values()].flatMap(({ index, place: own }) => (place && own === place ? [this.graph.homes.get(index) ?? -1] : []));
    return [...new Set(homes)].filter((at) => at >= 0);
  }

  /** @param {number} line */
  light(line) {
    const nodes = this.nodesOf(line);
    if (nodes.length) this.graph.flag("lit", nodes);
    this.mark("lit", nodes.length ? [line] : []);
  }

  /** Select the nodes of a line: the first one, then the next with every click. @param {number} line */
  choose(line) {
    const nodes = this.nodesOf(line);
    if (!nodes.length) return;
    this.chosen = line;
    this.view.pick(nodes[(nodes.indexOf(this.graph.selected) + 1) % nodes.length]);
    this.light(line);
    this.lines[line].row.scrollIntoView({ block: "nearest" });
  }

  /** A node or an edge is pointed at. @param {number[]} applications */
  point(applications) {
    if (this.element.hidden) return;
    const places = new Set(applications.map((index) => this.scene.applications.get(index)?.place));
    this.mark("lit", this.lines.flatMap(({ place }, at) => (place && places.has(place) ? [at] : [])));
  }

  /** Beside the graph, or no longer. */
  toggle() {
    const { root, state } = this.view;
    const on = Boolean(this.element.hidden);
    this.element.hidden = !on;
    root.classList.toggle("with-source", on);
    root.querySelector(".tool.source")?.setAttribute("aria-pressed", String(on));
    if (state) this.paint(state);
    this.graph.tip.leave();
  }

  /** Mark the line of the current step. @param {State} state */
  paint({ now }) {
    if (this.element.hidden) return;
    const place = this.scene.applications.get(now?.application ?? -1)?.place;
    const at = this.lines.findIndex((line) => line.place && line.place === place);
    this.mark("now", at < 0 ? [] : [at]);
    if (at < 0) return;
    const third = this.element.clientHeight / 3;
    bringIntoView(this.element, this.lines[at].row, third, third);
  }

  /** @param {string} name @param {number[]} marked */
  mark(name, marked) {
    this.lines.forEach(({ row }, at) => {
      row.classList.toggle(name, marked.includes(at));
      if (name === "now") row.setAttribute("aria-current", marked.includes(at) ? "step" : "false");
    });
  }
}
