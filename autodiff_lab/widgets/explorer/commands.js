// Every key of the explorer, in the order in which the help lists them.

import { hasCells } from "./jump.js";

/** @import { ExplorerView } from "./widget.js" */
/** @import { Key } from "./keys.js" */

/** @param {ExplorerView} view @returns {Key[]} */
export function keysOf(view) {
  const by = (/** @type {number} */ count) => () => view.go(view.step() + count);
  return [
    { keys: ["ArrowRight"], shown: "→", does: "next step", act: by(1) },
    { keys: ["ArrowLeft"], shown: "←", does: "previous step", act: by(-1) },
    ...(view.model.get("ask") ? [{ keys: ["F3"], shown: "F3", does: "fill in the numbers that are asked", act: () => view.asker.tell() }] : []),
    { keys: ["Home"], shown: "Home", does: "before the first step", act: () => view.go(0) },
    { keys: ["End"], shown: "End", does: "last step", act: () => view.go(view.scene.last) },
    { keys: [" "], shown: "Space", does: "play, pause", act: () => view.transport.toggle() },
    { keys: ["ArrowDown"], shown: "↓", does: "select the next node", act: () => view.walk(1) },
    { keys: ["ArrowUp"], shown: "↑", does: "select the previous node", act: () => view.walk(-1) },
    { keys: ["c"], shown: "c", does: "select a consumer", act: () => view.follow(1) },
    { keys: ["i"], shown: "i", does: "select an input", act: () => view.follow(-1) },
    ...view.tracer.keys(),
    ...view.passes.keys(),
    ...view.breakpoints.keys(),
    { keys: ["]", "PageDown"], shown: "]", does: "next iteration of a loop", act: () => view.turn(1) },
    { keys: ["[", "PageUp"], shown: "[", does: "previous iteration of a loop", act: () => view.turn(-1) },
    { keys: ["Enter"], shown: "Enter", does: "open a scope in place or close it, go to the step of an op, type into an input", act: () => view.enter(view.focus()) },
    ...view.folds.keys(),
    { keys: ["Escape"], shown: "Esc", does: "close, deselect, leave a scope, back to the cell", act: () => view.leave() },
    { keys: ["/"], shown: "/", does: "search", act: () => view.header.finder.toggle() },
    { keys: ["f"], shown: "f", does: "fit the graph to the panel", act: () => view.graph.fit() },
    { keys: ["F"], shown: "F", does: "full screen, and back", act: () => view.fillScreen() },
    { keys: ["+", "="], shown: "+", does: "larger", act: () => view.graph.zoomByKey(1) },
    { keys: ["-"], shown: "−", does: "smaller", act: () => view.graph.zoomByKey(-1) },
    { keys: ["Shift+ArrowRight"], shown: "Shift →", does: "make the selected input larger", act: () => view.tuner.nudge(1) },
    { keys: ["Shift+ArrowLeft"], shown: "Shift ←", does: "make it smaller", act: () => view.tuner.nudge(-1) },
    { keys: ["r"], shown: "r", does: "back to the recorded values", act: () => view.tuner.undo() },
    ...(hasCells() ? [{ keys: ["l"], shown: "l", does: "go to the line of the step in the notebook", act: () => view.jump() }] : []),
    { keys: ["s"], shown: "s", does: "the source beside the graph", act: () => view.source.toggle(view.root, view.state) },
    { keys: ["t"], shown: "t", does: "trace table", act: () => view.showTable() },
    { keys: ["?"], shown: "?", does: "these keys", act: () => view.showHelp() },
  ];
}
