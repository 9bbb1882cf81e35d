// From a node to the line of the program that made it.  JupyterLab and Notebook have the cells in the page around the
// widget, so that no extension is needed; other hosts keep widgets apart from the program, and files are not in the page.

/** @import { Place } from "./scene.js" */

/** Whether the cells of the notebook are in the page. */
export const hasCells = () => document.querySelector(".jp-Notebook .cm-content") !== null;

/**
 * Go to a line: scroll to it, put the cursor there, and let it light up for a moment.
 * @param {Element} root of the widget
 * @param {Place | null | undefined} place
 * @returns {string} what happened, in words
 */
export function jump(root, place) {
  if (!place) return "This node has no line in the program.";
  const [, cell, number] = /^cell (\d+), line (\d+)$/.exec(place.where) ?? [];
  if (!cell) return `Only lines of notebook cells can be reached from here, and this is ${place.where}.`;
  const notebook = root.closest(".jp-Notebook");
  if (!notebook) return `This page does not show the cells of the notebook; the line is ${place.where}.`;
  const line = findLine([...notebook.querySelectorAll(".jp-CodeCell")], cell, Number(number), place.line);
  const editor = line?.closest(".cm-content");
  if (!(line && editor instanceof HTMLElement)) return `${place.where} has changed since, or is not in the page: scroll until the cell is in sight.`;
  editor.focus({ preventScroll: true });
  getSelection()?.collapse(line, 0);
  line.scrollIntoView({ block: "center" });
  line.animate([{ backgroundColor: "#f2c50099" }, { backgroundColor: "#f2c50000" }], { duration: 2000 });
  return `Went to ${place.where}.`;
}

/**
 * The line in its cell, or in one with the same line in the same place: a cell that ran again has another number, and
 * a magic in the first line moves the others down.
 * @param {Element[]} cells
 * @param {string} cell
 * @param {number} number
 * @param {string} text
 */
function findLine(cells, cell, number, text) {
  const wanted = text.replace(/‥$/, "");
  const isIt = (/** @type {Element | undefined} */ line) => line !== undefined && (line.textContent ?? "").trim().startsWith(wanted);
  const own = (/** @type {Element} */ one) => one.querySelector(".jp-InputPrompt")?.textContent?.trim() === `[${cell}]:`;
  const ordered = [...cells.filter(own), ...cells.filter((one) => !own(one))];
  const lines = [0, 1].flatMap((by) => ordered.map((one) => [...one.querySelectorAll(".cm-line")][number - 1 + by]));
  return lines.find(isIt) ?? null;
}
