// The rules of whodunnit: points, who is still possible, and which question would have told most.  Pure.

/** @typedef {{ name: string, at: string }} Question */
/**
 * @typedef {{ title: string, program: string, questions: Question[], suspects: { code: string, idea: string }[],
 *   answers: number[][], right: number[], culprit: number, first: number }} Case
 * `answers` by suspect and question
 */

export const POINTS = 10;
export const ACCUSATION = 3;
const CLOSE = 1e-6;

/** @param {Case} facts @param {number[]} asked @param {number[]} accused @returns {number} the points that are left */
export function scoreOf(facts, asked, accused) {
  const wrong = accused.filter(each => each !== facts.culprit).length;
  return Math.max(POINTS - (asked.length - 1) - ACCUSATION * wrong, 0);
}

/** @param {number} one @param {number} other */
const agrees = (one, other) => Math.abs(one - other) <= CLOSE * Math.max(1, Math.abs(one), Math.abs(other));

/**
 * The suspects that give what the culprit gave, to all of these questions.
 * @param {Case} facts
 * @param {number[]} asked
 */
export function stillPossible(facts, asked) {
  const said = facts.answers[facts.culprit];
  return facts.suspects.map((_, at) => at).filter(at => asked.every(q => agrees(facts.answers[at][q], said[q])));
}

/**
 * The question that leaves the fewest suspects, whoever of them it was.
 * @param {Case} facts
 * @param {number[]} possible
 * @returns {{ question: number, left: number }}
 */
export function bestQuestion(facts, possible) {
  const left = (/** @type {number} */ question) => Math.max(
    ...possible.map(one => possible.filter(other => agrees(facts.answers[one][question], facts.answers[other][question])).length),
  );
  let best = { question: -1, left: Infinity };
  facts.questions.forEach((_, question) => {
    const found = left(question);
    if (found < best.left) best = { question, left: found };
  });
  return best;
}
