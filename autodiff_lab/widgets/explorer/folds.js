// Which folds are open in place: a list of paths in the model, so that they stay as they were left.  Of a loop it holds the
// iteration that is shown, and that follows the current step.

import { isInside, turnOf, turnWith } from "./scene.js";
import { frameOf, shownIn, unfolded } from "./unfold.js";

/** @import { GraphPanel } from "./graph.js" */
/** @import { Key } from "./keys.js" */
/** @import { Box, Scene, View } from "./scene.js" */
/**
 * @typedef {{ focus: () => number, scope: () => string, open: (path: string) => void, say: (text: string) => void }} FoldActs
 *   `focus` is the node that keys speak of, `scope` that of the current step
 */

/** The folds of one model. */
export class Folds {
  /** @param {Scene} scene @param {import("@anywidget/types").AnyModel<{ unfolded: string[] }>} model @param {GraphPanel} graph @param {FoldActs} acts */
  constructor(scene, model, graph, acts) {
    this.scene = scene;
    this.model = model;
    this.graph = graph;
    this.acts = acts;
  }

  /** @returns {Key[]} */
  keys() {
    return [
      { keys: ["u"], shown: "u", does: "close the scope around the node", act: () => this.foldAround(this.acts.focus()) },
      { keys: ["o"], shown: "o", does: "only this scope, by itself", act: () => this.alone(this.acts.focus()) },
    ];
  }

  /** @returns {Set<string>} */
  paths() {
    return new Set(this.model.get("unfolded") ?? []);
  }

  /** @param {Iterable<string>} paths */
  keep(paths) {
    this.model.set("unfolded", [...paths]);
    this.model.save_changes();
  }

  /** What is to be drawn of a scope. @param {string} path @returns {View} */
  view(path) {
    return unfolded(this.scene, path, this.paths());
  }

  /** Open a fold in place, or close it; a picture that cannot be drawn is shown by itself, with the reason. @param {number} at */
  fold(at) {
    const box = this.graph.view?.boxes[at];
    if (!box?.members.length) return;
    this.graph.select(at, true);
    const paths = this.paths();
    const open = shownIn(box, paths);
    const path = open ?? this.inside(box);
    if (open !== undefined) for (const one of paths) if (isInside(one, open)) paths.delete(one);
    if (open === undefined) paths.add(path);
    if (this.scene.views.get(path)?.why) this.acts.open(path);
    else this.keep(paths);
  }

  /** Close the fold around a node. @param {number} at */
  foldAround(at) {
    const frame = this.graph.view && frameOf(this.graph.view, at);
    if (frame) this.fold(frame.at);
    else this.acts.say("No open scope is around this node.");
  }

  /** Show a scope, or an iteration of a loop, by itself. @param {number} at */
  alone(at) {
    const { view } = this.graph;
    const box = view && (view.boxes[at]?.members.length ? view.boxes[at] : frameOf(view, at));
    if (!box) this.acts.say("Select a scope first.");
    else this.acts.open(this.inside(box));
  }

  /** What is, or would be, shown inside a box. @param {Box} box */
  inside(box) {
    return shownIn(box, this.paths()) ?? (box.turns.length ? turnWith(box.turns, this.acts.scope()) : box.key.slice(1));
  }

  /** Open all folds from a scope down to another, so that what is in it can be seen. @param {string} from @param {string} path */
  reveal(from, path) {
    const parts = path.split("/");
    const wanted = parts.map((_, at) => parts.slice(0, at + 1).join("/")).filter((one) => one !== from && isInside(one, from));
    const paths = this.paths();
    for (const one of wanted) {
      const turn = turnOf(this.scene, one);
      if (turn?.path === one) for (const other of turn.turns) paths.delete(other);
      paths.add(one);
    }
    if (path && wanted.some((one) => !this.paths().has(one))) this.keep(paths);
  }

  /** The iteration that is shown of the loop that was opened last, or null. */
  turn() {
    return [...this.paths()].reverse().map((path) => turnOf(this.scene, path)).find((turn) => turn) ?? null;
  }

  /** Let open loops show the iteration in which a scope lies. @param {string} scope */
  follow(scope) {
    const paths = [...this.paths()];
    for (const path of paths) {
      const turn = turnOf(this.scene, path);
      const next = turn && turn.path === path && !isInside(scope, path) ? turn.turns.find((one) => isInside(scope, one)) : undefined;
      if (next !== undefined) return this.keep(paths.map((one) => (isInside(one, path) ? next + one.slice(path.length) : one)).filter((one) => this.scene.views.has(one)));
    }
    return undefined;
  }
}
