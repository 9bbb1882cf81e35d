// Which folds are open in place: a list of paths in the model, so that they stay as they were left.  Of a loop it holds the
// iteration that is shown, and that follows the current step.

import { keep } from "../host.js";
import { Part } from "./part.js";
import { isInside, turnOf, turnWith } from "./scene.js";
import { frameOf, shownIn, unfolded } from "./unfold.js";

/** @import { Box, View } from "./scene.js" */
/** The folds of one model. */
export class Folds extends Part {
  /** @returns {Set<string>} */
  paths() {
    return new Set(this.view.model.get("unfolded") ?? []);
  }

  /** What is to be drawn. @returns {View} */
  drawn() {
    return unfolded(this.scene, "", this.paths());
  }

  /** Open a fold in place, or close it; of a picture that cannot be drawn, say why. @param {number} at */
  fold(at) {
    const box = this.graph.view?.boxes[at];
    if (!box?.members.length) return undefined;
    this.graph.select(at, true);
    const paths = this.paths();
    const open = shownIn(box, paths);
    const path = open ?? this.inside(box);
    if (open !== undefined) for (const one of paths) if (isInside(one, open)) paths.delete(one);
    if (open === undefined) paths.add(path);
    const why = this.scene.views.get(path)?.why;
    if (why) return this.view.say(why);
    keep(this.view.model, { unfolded: [...paths] });
    return this.view.say(open === undefined ? `Opened ${box.label}; i goes in, u closes it.` : `Closed ${box.label}.`);
  }

  /** Close the fold around a node. @param {number} at */
  foldAround(at) {
    const frame = this.graph.view && frameOf(this.graph.view, at);
    if (frame) this.fold(frame.at);
    else this.view.say("No open scope is around this node.");
  }

  /** What is, or would be, shown inside a box. @param {Box} box */
  inside(box) {
    return shownIn(box, this.paths()) ?? (box.turns.length ? turnWith(box.turns, this.view.scope()) : box.key.slice(1));
  }

  /** Open all folds down to a scope, so that what is in it can be seen. @param {string} path */
  reveal(path) {
    const parts = path.split("/");
    const wanted = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
    const paths = this.paths();
    for (const one of wanted) {
      const turn = turnOf(this.scene, one);
      if (turn?.path === one) for (const other of turn.turns) paths.delete(other);
      paths.add(one);
    }
    if (path && wanted.some((one) => !this.paths().has(one))) keep(this.view.model, { unfolded: [...paths] });
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
      if (next === undefined) continue;
      const moved = paths.map((one) => (isInside(one, path) ? next + one.slice(path.length) : one));
      return keep(this.view.model, { unfolded: moved.filter((one) => this.scene.views.has(one)) });
    }
    return undefined;
  }
}
