// A case of the clinic: point at the line of the fault and name its cause.  A wrong answer or a hint costs a point.

import { giveBack, keepKeys } from "../host.js";
import { addButton, make } from "../plotting/elements.js";

/**
 * @typedef {{ title: string, complaint: string, wanted: string, program: string[], values: string, causes: string[][],
 *   hints: string[], lines: number[], cause: string, points: number, diagnosis: string,
 *   says: { none: string, early: string, late: string, cause: string, next: string } }} Facts
 * `causes` are names and their words; `lines` the right one first, then others that are accepted
 */

/** @type {import("@anywidget/types").Render<{ facts: Facts }>} */
function render({ model, el }) {
  const stop = new AbortController();
  const facts = model.get("facts");
  const { says } = facts;
  const root = make(el, "div", "autodiff-lab lab-clinic");
  make(root, "h3", "", facts.title);
  make(root, "blockquote", "", facts.complaint);
  if (facts.wanted) make(root, "p", "", facts.wanted);
  let [points, line] = [facts.points, 0];
  const program = make(root, "div", "program");
  const lines = facts.program.map((text, at) => addButton(program, `${at + 1}  ${text}`, `Line ${at + 1}: ${text.trim()}`, () => {
    line = at + 1;
    lines.forEach((each, place) => each.setAttribute("aria-pressed", String(place === at)));
  }, stop.signal));
  make(root, "pre", "values", facts.values);
  const form = make(root, "div", "form");
  const list = make(form, "select");
  list.setAttribute("aria-label", "Cause");
  for (const [name, words] of [["", "name the cause"], ...facts.causes]) make(list, "option", "", words).value = name;
  const verdict = make(root, "p", "verdict", `${points} points`);
  verdict.setAttribute("aria-live", "polite");
  const pay = (/** @type {string} */ sentence, price = 1) => {
    points = Math.max(points - price, 0);
    verdict.textContent = `${sentence} Left: ${points} of ${facts.points} points.`;
  };
  const answer = addButton(form, "Answer", "A wrong answer costs a point", () => {
    if (!line || !list.value) return pay(says.none, 0);
    if (!facts.lines.includes(line)) return pay(line > facts.lines[0] ? says.late : says.early);
    if (list.value !== facts.cause) return pay(says.cause);
    for (const each of [...lines, list, answer, hint]) each.disabled = true;
    verdict.textContent = `Line and cause are right: ${points} of ${facts.points} points. ${says.next}`;
    make(root, "pre", "values", facts.diagnosis);
  }, stop.signal);
  const left = [...facts.hints];
  const hint = addButton(form, "Hint", "A hint costs a point", () => {
    pay(left.shift() ?? "");
    hint.hidden = !left.length;
  }, stop.signal);
  hint.hidden = !left.length;
  keepKeys(root, stop.signal, event => { if (event.key === "Escape") giveBack(root); });
  return () => stop.abort();
}

export default { render };
