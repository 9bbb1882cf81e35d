// Whodunnit: a program, questions that cost points, and suspects to accuse.  All answers are in the case; game.js counts.

import { attend, giveBack, keep, keepKeys, listenToTraits } from "../host.js";
import { short } from "../numbers.js";
import { addButton, make } from "../plotting/elements.js";
import { ACCUSATION, bestQuestion, POINTS, scoreOf, stillPossible } from "./game.js";

/** @typedef {import("./game.js").Case} Case */
/** @typedef {{ facts: Case, asked: number[], accused: number[], wants_focus: boolean }} Traits */

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const facts = model.get("facts");
  const root = make(el, "div", "autodiff-lab lab-whodunnit");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", facts.title);
  make(root, "h2", "", `${facts.title}: one engine is broken. Which?`);
  const board = make(root, "div", "board");
  const left = make(board, "section");
  make(left, "pre", "program", facts.program);
  const form = make(left, "div", "form");
  const list = make(form, "select");
  list.setAttribute("aria-label", "Question");
  facts.questions.forEach((_, at) => { make(list, "option", "", nameOf(facts, at)).value = String(at); });
  const ask = addButton(form, "Ask (1 point)", "Ask for this number; costs a point", () => {
    const at = Number(list.value);
    if (!model.get("asked").includes(at)) change("asked", [...model.get("asked"), at]);
  }, signal);
  const evidence = make(left, "table", "evidence");
  const right = make(board, "section");
  make(right, "h3", "", `Who was it? A wrong accusation costs ${ACCUSATION} points.`);
  const rows = facts.suspects.map((suspect, at) => {
    const row = make(right, "p", "suspect");
    const accuse = addButton(row, suspect.code, `Accuse ${suspect.code}`, () => change("accused", [...model.get("accused"), at]), signal);
    make(row, "span", "idea", suspect.idea);
    return { row, accuse, said: make(row, "b", "said") };
  });
  const verdict = make(root, "p", "verdict");
  verdict.setAttribute("aria-live", "polite");
  /** @param {"asked" | "accused"} name @param {number[]} value */
  const change = (name, value) => keep(model, { [name]: value });
  const paint = () => {
    const asked = model.get("asked");
    const accused = model.get("accused");
    const solved = accused.includes(facts.culprit);
    fillEvidence(evidence, facts, asked);
    rows.forEach(({ row, accuse, said }, at) => {
      const done = accused.includes(at);
      accuse.disabled = done || solved;
      row.classList.toggle("culprit", solved && at === facts.culprit);
      said.textContent = done ? (at === facts.culprit ? "It was." : "It was not.") : "";
    });
    ask.disabled = list.disabled = solved;
    verdict.textContent = solved ? ending(facts, asked, accused) : `${scoreOf(facts, asked, accused)} of ${POINTS} points`;
  };
  keepKeys(root, signal, event => { if (event.key === "Escape") giveBack(root); });
  attend(model, root, list, signal);
  listenToTraits(model, ["asked", "accused"], paint, signal);
  paint();
  return () => stop.abort();
}

/** @param {Case} facts @param {number} at */
function nameOf(facts, at) {
  const { name, at: where } = facts.questions[at];
  return `df/d${name}${where ? ` at ${where}` : ""}`;
}

/** @param {HTMLTableElement} table @param {Case} facts @param {number[]} asked */
function fillEvidence(table, facts, asked) {
  table.replaceChildren();
  const head = make(table, "tr");
  for (const word of ["value", "it says", "right"]) make(head, "th", "", word).scope = "col";
  for (const at of asked) {
    const row = make(table, "tr");
    make(row, "th", "", nameOf(facts, at)).scope = "row";
    const wrong = short(facts.answers[facts.culprit][at]) !== short(facts.right[at]);
    make(row, "td", wrong ? "wrong" : "", short(facts.answers[facts.culprit][at]));
    make(row, "td", "", short(facts.right[at]));
  }
}

/** What is said at the end: the score, and the question that was worth asking. @param {Case} facts @param {number[]} asked @param {number[]} accused */
function ending(facts, asked, accused) {
  const questions = asked.length - 1;
  const possible = stillPossible(facts, [facts.first]);
  const best = bestQuestion(facts, possible);
  const named = possible.map(at => facts.suspects[at].code).join(", ");
  const told = `Solved with ${questions} ${questions === 1 ? "question" : "questions"}: ${scoreOf(facts, asked, accused)} of ${POINTS} points.`;
  return `${told} The free number fitted ${named}. The question worth asking was ${nameOf(facts, best.question)}: `
    + (best.left === 1 ? "it tells all of them apart." : `it leaves ${best.left} at most.`);
}

export default { render };
