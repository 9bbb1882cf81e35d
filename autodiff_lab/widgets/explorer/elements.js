// The elements of a value, looked into on demand, a page of them at a time.  What a recording kept only in words, the page
// computes again.

import { sizeOf } from "../basics.js";
import { element, setText } from "../dom.js";
import { short } from "../numbers.js";
import { indexWords } from "./arithmetic.js";
import { dimsOf, elementsIn } from "./cells.js";

/** @import { Tensor } from "./scene.js" */
/** @typedef {(number: number) => { data: ArrayLike<number> } | null | undefined} Compute a tensor of the recorded program */

const IN_A_ROW = 6;
const ON_A_PAGE = 12;
/** Fewer are written out already. */
const WRITTEN_OUT = 6;

/** @param {Tensor} tensor @param {Compute} compute @returns {HTMLElement[]} */
export function elementsPart(tensor, compute) {
  const dims = dimsOf(tensor.value);
  const size = sizeOf(dims);
  if (size <= WRITTEN_OUT) return [];
  const place = element("div", { class: "pages", tabindex: 0, role: "region", "aria-label": `Elements of ${tensor.name}` });
  const made = element("details", { class: "elements" }, element("summary", {}, `Its ${size.toLocaleString("en")} elements`), place);
  made.addEventListener("toggle", () => {
    if (!made.open || place.childElementCount) return;
    const kept = elementsIn(tensor.value);
    const numbers = kept ?? compute(tensor.number)?.data;
    if (numbers) place.append(...pagesOf(dims, numbers, kept ? "" : "computed in this page, as only a summary was recorded"));
    else place.append(element("p", { class: "detail" }, "Only a summary was recorded, and the page cannot compute it again."));
  });
  return [made];
}

/** @param {number[]} dims @param {ArrayLike<number>} numbers @param {string} note */
function pagesOf(dims, numbers, note) {
  const width = dims[dims.length - 1];
  const pieces = Math.ceil(width / IN_A_ROW);
  const rows = (numbers.length / width) * pieces;
  const table = element("table");
  const where = element("span", { role: "status" });
  let first = 0;
  const paint = () => {
    const here = Array.from({ length: Math.min(ON_A_PAGE, rows - first) }, (_, k) => {
      const start = Math.floor((first + k) / pieces) * width + ((first + k) % pieces) * IN_A_ROW;
      const end = Math.min(start + IN_A_ROW, (Math.floor(start / width) + 1) * width);
      const cells = Array.from({ length: end - start }, (_unused, at) => element("td", { title: String(numbers[start + at]) }, short(numbers[start + at])));
      return element("tr", {}, element("th", { scope: "row" }, indexWords({ dims }, start)), ...cells);
    });
    table.replaceChildren(...here);
    setText(where, `rows ${first + 1} to ${first + here.length} of ${rows.toLocaleString("en")}`);
    buttons[0].disabled = first === 0;
    buttons[1].disabled = first + ON_A_PAGE >= rows;
  };
  const buttons = [-ON_A_PAGE, ON_A_PAGE].map((by) => {
    const turn = () => { first += by; paint(); };
    return element("button", { type: "button", onclick: turn }, by < 0 ? "previous" : "next");
  });
  paint();
  const bar = rows > ON_A_PAGE ? [element("p", {}, ...buttons, where)] : [];
  return [table, ...bar, ...(note ? [element("p", { class: "detail" }, note)] : [])];
}
