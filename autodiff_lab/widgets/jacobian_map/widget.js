// The Jacobian map: the drawing comes from Python, this moves its frames and says what the marked number means.

import { attend, giveBack, keep, keepKeys, listenToTraits, makeHint } from "../host.js";
import { drawnFrom, make } from "../plotting/elements.js";
import { inside, moved, partner, pressed } from "./places.js";

/** @typedef {import("./places.js").Entry} Entry */
/** @typedef {{ facts: import("./places.js").MapFacts, row: number, column: number, wants_focus: boolean }} Traits */

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const facts = model.get("facts");
  const root = make(el, "div", "autodiff-lab lab-jacobian-map");
  const said = make(root, "p", "said");
  said.setAttribute("aria-live", "polite");
  const board = make(root, "div", "board");
  board.tabIndex = 0;
  board.setAttribute("role", "group");
  board.setAttribute("aria-roledescription", "table of derivatives");
  board.setAttribute("aria-label", `${facts.title}. The arrow keys move to another number.`);
  board.append(...facts.panels.map(drawn));
  make(root, "p", "keys", "Arrow keys move the frames, or press a cell. Dashed: the row, one backward pass. Solid: the column, one forward pass. ")
    .append(makeHint("→"));

  const now = () => inside({ row: model.get("row"), column: model.get("column") }, facts.size);
  const show = () => {
    const entry = now();
    said.textContent = facts.sentences[entry.row * facts.size[1] + entry.column];
    placeFrames(board, facts, entry);
  };
  /** @param {Entry} entry */
  const go = entry => {
    keep(model, { row: entry.row, column: entry.column });
    show();
  };
  const options = { signal: stop.signal };
  keepKeys(root, stop.signal, event => {
    if (event.key === "Escape") giveBack(root);
    const entry = moved(now(), event.key, facts.size);
    return entry && (() => go(entry));
  });
  attend(model, root, board, stop.signal);
  board.addEventListener("click", event => {
    const cell = /** @type {SVGElement | null} */ (/** @type {Element} */ (event.target).closest("[data-role]"));
    if (!cell) return;
    const { role = "", row, column } = cell.dataset;
    go(inside(pressed(facts, now(), role, Number(row), Number(column)), facts.size));
  }, options);
  listenToTraits(model, ["row", "column"], show, stop.signal);
  show();
  return () => stop.abort();
}

/**
 * A panel as an element of its own, so that both may stand below each other where the page is narrow.
 * @param {{ markup: string, width: number, height: number }} panel see draw/jacobian/svg.py
 */
function drawn({ markup, width, height }) {
  return drawnFrom(markup, "lab-jacobian", `-3 0 ${width + 6} ${height}`, width + 6);
}

/** @param {Element} board @param {import("./places.js").MapFacts} facts @param {Entry} entry */
function placeFrames(board, facts, entry) {
  const [table, side] = board.children;
  const at = (/** @type {number} */ index) => String(index * facts.cell);
  table.querySelector(".lab-on.lab-column")?.setAttribute("x", at(entry.column));
  table.querySelector(".lab-on.lab-row")?.setAttribute("y", at(entry.row));
  const mark = table.querySelector(".lab-on.lab-entry");
  mark?.setAttribute("x", at(entry.column));
  mark?.setAttribute("y", at(entry.row));
  for (const role of ["row", "column", "entry"]) {
    const frame = side.querySelector(`.lab-on.lab-${role}`);
    const place = partner(facts, entry, role);
    frame?.setAttribute("visibility", place ? "visible" : "hidden");
    if (!place) continue;
    frame?.setAttribute("y", at(place[0]));
    frame?.setAttribute("x", at(place[1]));
  }
}

export default { render };
