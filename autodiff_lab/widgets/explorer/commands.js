// Every key of the explorer, in the order in which the help lists them.

import { hasCells } from "./jump.js";

/** @import { ExplorerView } from "./widget.js" */
/** @import { Key } from "./keys.js" */

const ZOOM_STEP = 1.25;

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
    { keys: ["Shift+ArrowDown"], shown: "Shift ↓", does: "the next input or consumer beside it", act: () => view.along(1) },
    { keys: ["Shift+ArrowUp"], shown: "Shift ↑", does: "the previous one", act: () => view.along(-1) },
    { keys: ["e"], shown: "e", does: "select an edge: the tensor on its way", act: () => view.tracer.takeNext() },
    { keys: ["a"], shown: "a", does: "only what the node depends on", act: () => view.tracer.way(-1) },
    { keys: ["d"], shown: "d", does: "only what depends on the node", act: () => view.tracer.way(1) },
    { keys: ["p"], shown: "p", does: "path from here to the node selected next", act: () => view.tracer.markPath() },
    { keys: ["n"], shown: "n", does: "next step that touches the node", act: () => view.tracer.touch(1) },
    { keys: ["N"], shown: "N", does: "previous step that touches the node", act: () => view.tracer.touch(-1) },
    ...(view.passes.all.length ? [
      { keys: ["g"], shown: "g", does: "gradients of the next backward pass", act: () => view.passes.next(0) },
      { keys: ["G"], shown: "G", does: "compare with the next backward pass", act: () => view.passes.next(1) },
      { keys: ["x"], shown: "x", does: "step the other of two compared passes", act: () => view.passes.change() },
    ] : []),
    { keys: ["b"], shown: "b", does: "breakpoint: say where to stop", act: () => view.breakpoints.open() },
    { keys: ["."], shown: ".", does: "run to the next breakpoint", act: () => view.breakpoints.run(1) },
    { keys: [","], shown: ",", does: "back to the previous breakpoint", act: () => view.breakpoints.run(-1) },
    { keys: ["]", "PageDown"], shown: "]", does: "next iteration of a loop", menu: "Next iteration", act: () => view.turn(1) },
    { keys: ["[", "PageUp"], shown: "[", does: "previous iteration of a loop", menu: "Previous iteration", act: () => view.turn(-1) },
    { keys: ["Enter"], shown: "Enter", does: "open a scope in place or close it, go to the step of an op, type into an input", act: () => view.enter(view.focus()) },
    { keys: ["u"], shown: "u", does: "close the scope around the node", act: () => view.folds.foldAround(view.focus()) },
    { keys: ["Escape"], shown: "Esc", does: "close, deselect, back to the cell", act: () => view.leave() },
    { keys: ["/"], shown: "/", does: "search", act: () => view.header.finder.toggle() },
    { keys: ["f"], shown: "f", does: "fit the graph to the panel", menu: "Fit to the panel", act: () => view.graph.fit() },
    { keys: ["F"], shown: "F", does: "full screen, and back", act: () => view.fillScreen() },
    { keys: ["+", "="], shown: "+", does: "larger", menu: "Zoom in", act: () => view.graph.zoom(ZOOM_STEP) },
    { keys: ["-"], shown: "−", does: "smaller", menu: "Zoom out", act: () => view.graph.zoom(1 / ZOOM_STEP) },
    { keys: ["Shift+ArrowRight"], shown: "Shift →", does: "make the selected input larger", act: () => view.tuner.nudge(1) },
    { keys: ["Shift+ArrowLeft"], shown: "Shift ←", does: "make it smaller", act: () => view.tuner.nudge(-1) },
    { keys: ["r"], shown: "r", does: "back to the recorded values", act: () => view.tuner.undo() },
    ...(hasCells() ? [{ keys: ["l"], shown: "l", does: "go to the line of the step in the notebook", act: () => view.jump() }] : []),
    { keys: ["s"], shown: "s", does: "the source beside the graph", act: () => view.source.toggle() },
    { keys: ["?"], shown: "?", does: "these keys", menu: "Keys", act: () => { view.help.hidden = !view.help.hidden; } },
    { keys: ["m"], shown: "m", does: "a tone for each step, and silence again", menu: "Sound", act: () => view.sound.toggle() },
    { keys: ["t"], shown: "t", does: "trace table", menu: "Trace table", act: () => view.table.toggle() },
  ];
}
