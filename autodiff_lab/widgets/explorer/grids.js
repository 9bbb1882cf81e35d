// The tables of a step on the card, in the order of its arithmetic: incoming · Wᵀ = to x.  A cell of the result under
// the pointer, or reached with the arrow keys, lights up what it is made of, and says the sum.  What is stretched to the
// shape of the result is drawn so, with its copies hatched; an element under the pointer lights up all of them.

import { drawing, element, setText } from "../dom.js";
import { onKeys } from "../host.js";
import { short } from "../numbers.js";
import { indexWords, partsOf, sumWords } from "./arithmetic.js";
import { pathsOf, shapeText } from "./cells.js";

/** @import { Arithmetic, Table, Term } from "./arithmetic.js" */

const LARGE = 12;
const SMALL = 8;
const WIDE = 10;
const ROOM = 5;

/**
 * @param {Arithmetic} arithmetic
 * @returns {HTMLElement}
 */
export function makeGrids(arithmetic) {
  const said = element("p", { class: "cell", "aria-live": "polite" }, RESTING);
  const last = arithmetic.terms.length - 1;
  const boards = arithmetic.terms.map((term, at) => makeBoard(term, at ? [] : arithmetic.summed, arithmetic.terms[last].table));
  const row = element("div", { class: "grids" }, ...arithmetic.terms.map((term, at) => element(
    "span", { class: "term" },
    element("span", { class: "sign" }, term.sign),
    element("span", { class: "board" }, boards[at]?.picture ?? element("span", { class: `number ${term.kind}` }, term.value?.short ?? "none"),
      element("small", {}, `${term.words}${term.table?.dims.length ? ` ${shapeText(term.table.dims)}` : ""}`)),
  )));
  const made = element("div", { class: "arithmetic" }, row);
  if (arithmetic.lens) made.append(element("p", { class: "lens" }, arithmetic.lens));
  made.append(said);
  boards.forEach((board, at) => board && listen(board, (place) => {
    const here = place < 0 ? [] : [place];
    const parts = place >= 0 && at === last ? partsOf(arithmetic, place) : null;
    const copies = place >= 0 ? copiesAt(arithmetic.terms[at], place) : [];
    boards.forEach((other, k) => {
      if (!other) return;
      if (k === at || (k === last && copies.length)) light(other, copies.length ? copies : here);
      else light(other, parts && arithmetic.terms[k].copies ? here : parts?.[k] ?? []);
    });
    setText(said, place < 0 ? RESTING : at === last ? sumWords(arithmetic, place) : wordsOf(arithmetic.terms[at], board.table, place));
  }, at === last));
  return made;
}

const RESTING = "Point at a cell, or press Tab and the arrow keys.";

/** @param {Term} term @param {Table} table @param {number} place on the board */
function wordsOf(term, table, place) {
  const at = term.copies ? term.copies[place] : place;
  return `${term.words}${indexWords(table, at)} = ${short(table.numbers[at])}${term.copies ? `, used ${copiesAt(term, place).length} times` : ""}`;
}

/** The places on a board that show the same element; none where nothing is repeated. @param {Term} term @param {number} place */
function copiesAt({ copies }, place) {
  return copies ? [...copies.keys()].filter((other) => copies[other] === copies[place]) : [];
}

/** @typedef {{ table: Table, rows: number, columns: number, picture: SVGSVGElement, side: number, lit: SVGPathElement }} Board */

/** @param {Term} term @param {number[]} summed axes that get a bar @param {Table | null} result @returns {Board | null} */
function makeBoard(term, summed, result) {
  const { table, copies } = term;
  if (!table || table.numbers.length < 2) return null;
  const { rows, columns } = copies && result ? result : table;
  const side = columns > WIDE || rows > WIDE ? SMALL : LARGE;
  const [width, height] = [columns * side, rows * side];
  const picture = drawing("svg", {
    class: `cells ${term.kind}`, width: width + 2 * ROOM, height: height + 2 * ROOM,
    viewBox: `${-ROOM} ${-ROOM} ${width + 2 * ROOM} ${height + 2 * ROOM}`, role: "img",
    "aria-label": `${term.words}, ${table.rows} by ${table.columns} cells, ${term.value?.short ?? ""}${copies ? `, stretched to ${rows} by ${columns}` : ""}`,
  });
  picture.append(drawing("rect", { class: "frame", x: -0.5, y: -0.5, width: width + 1, height: height + 1 }));
  const isCopy = (/** @type {number} */ place) => copies !== undefined && copies.indexOf(copies[place]) !== place;
  const numbers = copies ? copies.map((at) => table.numbers[at]) : table.numbers;
  for (const hatched of copies ? [false, true] : [false]) {
    const group = drawing("g", hatched ? { class: "copies" } : {});
    for (const [level, path] of pathsOf(numbers.map((number, place) => (isCopy(place) === hatched ? number : 0)), columns, side)) {
      group.append(drawing("path", { class: `level-${level < 0 ? "bad" : level}`, d: path }));
    }
    picture.append(group);
  }
  const strokes = numbers.map((_, place) => (isCopy(place) ? `M${(place % columns) * side} ${Math.floor(place / columns) * side + side}l${side} ${-side}` : ""));
  if (copies) picture.append(drawing("path", { class: "hatch", d: strokes.join("") }));
  // A bar along each axis that was summed: beside the rows for all but the last axis, above the columns for the last.
  for (const axis of summed) {
    const across = axis === table.dims.length - 1;
    picture.append(drawing("path", { class: "bar", d: across ? `M0 -3h${width}` : `M-3 0v${height}` }));
  }
  const lit = drawing("path", { class: "lit" });
  picture.append(lit);
  return { table, rows, columns, picture, side, lit };
}

/** @param {Board} board @param {number[]} places */
function light({ columns, side, lit }, places) {
  lit.setAttribute("d", places.map((place) => {
    const [x, y] = [(place % columns) * side, Math.floor(place / columns) * side];
    return `M${x} ${y}h${side}v${side}h${-side}z`;
  }).join(""));
}

/**
 * The pointer over a board, and the arrow keys on that of the result.
 * @param {Board} board
 * @param {(place: number) => void} point gets the place of a cell, -1 for none
 * @param {boolean} withKeys
 */
function listen({ rows, columns, picture, side }, point, withKeys) {
  let now = -1;
  const go = (/** @type {number} */ place) => { if (place !== now) point(now = place); };
  picture.addEventListener("pointermove", (event) => {
    const frame = picture.getBoundingClientRect();
    const [column, row] = [event.clientX - frame.left, event.clientY - frame.top].map((at) => Math.floor((at - ROOM) / side));
    go(column >= 0 && row >= 0 && column < columns && row < rows ? row * columns + column : -1);
  });
  picture.addEventListener("pointerleave", () => go(-1));
  if (!withKeys) return;
  picture.setAttribute("tabindex", "0");
  picture.setAttribute("aria-roledescription", "table of numbers; the arrow keys move");
  const by = (/** @type {number} */ places) => () => {
    const next = now < 0 ? 0 : now + places;
    if (next >= 0 && next < rows * columns) go(next);
  };
  onKeys(picture, { ArrowRight: by(1), ArrowLeft: by(-1), ArrowDown: by(columns), ArrowUp: by(-columns) });
  picture.addEventListener("focus", () => { if (now < 0) go(0); });
  picture.addEventListener("blur", () => go(-1));
}
