// What every part of the explorer knows: the view that it belongs to, with its scene and its graph.

/** @import { ExplorerView } from "./widget.js" */

/** A part of one view. */
export class Part {
  /** @param {ExplorerView} view */
  constructor(view) {
    this.view = view;
    this.scene = view.scene;
    this.graph = view.graph;
  }
}
