// The tracer: asks the graph questions.  It selects an edge as the tensor that it carries, shows what a node depends on,
// what depends on it and a path between two, goes to the steps that touch a node, and to where a gradient is lost.

import { setText } from "../dom.js";
import { Part } from "./part.js";
import { edgesAt, isCutAt, lineage, pathBetween, placeOfCut, touches } from "./trace.js";
import { counted } from "./words.js";

/** @import { Cut } from "./scene.js" */

/** What is traced and selected in a view. */
export class Tracer extends Part {
  /** The tensor that the card shows instead of the step; -1 for none. */
  told = -1;
  /** What is traced, so that the same key ends it; the node where a path is to begin; and that whose edges are selected. */
  traced = "";
  anchor = -1;
  edgeHome = -1;

  /** Another view is opened. */
  forget() {
    this.traced = "";
    this.anchor = -1;
    this.tell(-1);
  }

  /** Answer, for eyes and ears. @param {string} text */
  note(text) {
    setText(this.graph.tip.element, text);
    this.view.say(text);
  }

  /** Show a tensor on the card; -1 for the step again. @param {number} tensor */
  tell(tensor) {
    if (tensor < 0) this.graph.take(-1);
    if (tensor === this.told) return;
    this.told = tensor;
    this.view.paintCard();
  }

  /** Select an edge: the tensor that it carries. @param {number} at */
  take(at) {
    this.view.back();
    this.graph.take(at);
    this.tell(this.graph.edges[at]?.edge.tensor ?? -1);
    this.view.say((this.graph.tip.element.textContent ?? "").split("\n").join("; "));
  }

  /** The next edge at the selected node, or of the node that the selected edge comes from. */
  takeNext() {
    const { taken, view } = this.graph;
    if (!view) return;
    if (taken < 0) this.edgeHome = this.view.focus();
    const edges = edgesAt(view, this.edgeHome);
    if (edges.length) this.take(edges[(edges.indexOf(taken) + 1) % edges.length]);
    else this.note("No edge meets this node.");
  }

  /** Show what a node depends on or what depends on it, or everything again. @param {1 | -1} way */
  way(way) {
    const from = this.view.focus();
    const box = this.graph.view?.boxes[from];
    if (!this.graph.view || !box) return this.note("Select a node first.");
    if (this.traced === `${way} ${from}`) return this.untrace();
    const trace = lineage(this.graph.view, from, way);
    this.graph.trace(trace);
    this.traced = `${way} ${from}`;
    const others = trace.boxes.size - 1;
    const name = box.name || box.label;
    return this.note(way < 0 ? `${name} depends on ${counted(others, "node")}.` : `${counted(others, "node")} ${others === 1 ? "depends" : "depend"} on ${name}.`);
  }

  untrace() {
    this.graph.trace(null);
    this.traced = "";
    this.anchor = -1;
    this.note("Everything is shown again.");
  }

  /** The first press marks where a path begins, the second one shows it. */
  markPath() {
    const at = this.view.focus();
    const box = this.graph.view?.boxes[at];
    if (!box) return this.note("Select a node first.");
    if (this.anchor >= 0 && this.anchor !== at) return this.path(this.anchor, at);
    this.anchor = at;
    return this.note(`Path from ${box.name || box.label}: select another node, then press p.`);
  }

  /** Show one path between two nodes. @param {number} from @param {number} to */
  path(from, to) {
    const { view } = this.graph;
    if (!view || !view.boxes[from] || !view.boxes[to]) return;
    const path = pathBetween(view, from, to);
    const [start, end] = [from, to].map((at) => view.boxes[at].name || view.boxes[at].label);
    this.anchor = -1;
    this.traced = path ? "path" : "";
    this.graph.select(to, true);
    this.graph.trace(path);
    this.note(path ? `A path of ${counted(path.boxes.size - 1, "edge")} between ${start} and ${end}.` : `No path leads from ${start} to ${end}, or back.`);
  }

  /** To the next step that touches the selected node, or to the one before; round at the end. @param {1 | -1} by */
  touch(by) {
    const at = this.view.focus();
    const box = this.graph.view?.boxes[at];
    const steps = box ? touches(this.scene, box) : [];
    if (!steps.length) return this.note("No step touches this node.");
    const here = this.view.step();
    const next = by > 0 ? steps.find((step) => step > here) ?? steps[0] : steps.filter((step) => step < here).pop() ?? steps[steps.length - 1];
    if (this.graph.selected < 0) this.graph.select(at);
    return this.view.go(next);
  }

  /** To the end of the pass that lost a gradient, with the place of the loss selected. @param {Cut} cut */
  showCut(cut) {
    const place = placeOfCut(this.scene, cut);
    if (!place) return;
    this.view.folds.reveal(place.view);
    this.view.go(Math.max(this.scene.sweeps[cut.sweep]?.last ?? 0, this.view.step()));
    const { view } = this.graph;
    if (!view) return;
    const edge = view.edges.findIndex((one) => isCutAt(cut, view.boxes[one.target], one.tensor) && !view.boxes[one.target].members.length);
    const box = edge >= 0 ? view.boxes[view.edges[edge].target] : view.boxes.find((one) => one.tensors.includes(cut.tensor) && !one.outside);
    if (edge >= 0) this.take(edge);
    else this.graph.select(box?.at ?? -1);
    this.tell(cut.tensor);
    if (box) this.graph.centreOn(box);
  }
}
