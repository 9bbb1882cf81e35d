// The rules of the board: what is held after each move, what a run may keep, and the fewest ops there are.  Pure.

/** @typedef {{ start: number, end: number, kept: number[] }} Run */
/** @typedef {{ start: number, end: number, free: number }} Asked a run that waits for a choice */
/** @typedef {{ run: Run | null, back: number }} Move a run, or the step back over a value */
/** @typedef {{ moves: Move[], asked: Asked | null, firstLoss: (Asked & { kept: number[] }) | null }} Played */
/** @typedef {{ held: number[], need: number, again: number, most: number, last: Move | null }} State */

/** @type {Map<number, number>} */
const known = new Map();

/** The fewest ops that bring a backward pass over a chain, the forward pass included. @param {number} values @param {number} slots @returns {number} */
export function fewestOps(values, slots) {
  if (values <= slots) return values;
  if (slots === 1) return (values * (values + 1)) / 2;
  const key = values * 100 + slots;
  const before = known.get(key);
  if (before !== undefined) return before;
  const all = Array.from({ length: values }, (_, at) => at + 1 + fewestOps(values - at - 1, slots - 1) + fewestOps(at, slots));
  const found = Math.min(...all);
  known.set(key, found);
  return found;
}

/** The ops of a chain whose first run keeps these and its last value. @param {number} length @param {number} slots @param {number[]} kept */
export function opsOf(length, slots, kept) {
  const ends = [0, ...kept, length];
  return ends.slice(1).reduce((sum, end, taken) => sum + fewestOps(end - ends[taken] - 1, slots - taken), length);
}

/**
 * The moves of a game as far as it was played.
 * @param {number} values
 * @param {number} slots
 * @param {number[][]} choices what each run keeps besides its last value, where not everything fits
 * @returns {Played}
 */
export function play(values, slots, choices) {
  /** @type {Move[]} */
  const moves = [];
  /** @type {Played["firstLoss"]} */
  let firstLoss = null;
  const held = [0];
  let made = 0;
  for (let need = values; need > 0;) {
    const start = held[held.length - 1];
    if (start === need) {
      held.pop();
      moves.push({ run: null, back: need });
      need -= 1;
      continue;
    }
    const free = slots - (held.length - 1);
    let kept = Array.from({ length: need - start - 1 }, (_, at) => start + 1 + at);
    if (need - start > free) {
      kept = [];
      if (free > 1) {
        if (made === choices.length) return { moves, asked: { start, end: need, free }, firstLoss };
        kept = [...choices[made]].sort((a, b) => a - b);
        made += 1;
        const length = need - start;
        if (!firstLoss && opsOf(length, free, kept.map(value => value - start)) > fewestOps(length, free)) firstLoss = { start, end: need, free, kept };
      }
    }
    moves.push({ run: { start, end: need, kept: [...kept, need] }, back: 0 });
    held.push(...kept, need);
  }
  return { moves, asked: null, firstLoss };
}

/** What is held, and what it took, after some moves. @param {number} values @param {Move[]} moves @returns {State} */
export function stateOf(values, moves) {
  /** @type {number[]} */
  let held = [];
  let [need, ops, most] = [values, 0, 0];
  for (const { run, back } of moves) {
    if (run) {
      held = [...held, ...run.kept];
      ops += run.end - run.start;
    } else {
      held = held.filter(value => value !== back);
      need = back - 1;
    }
    most = Math.max(most, held.length);
  }
  return { held, need, again: Math.max(0, ops - values), most, last: moves[moves.length - 1] ?? null };
}

/** The code of the idea behind a choice that costs more than needed, "" for none. @param {number} length @param {number} slots @param {number[]} kept */
export function ideaOf(length, slots, kept) {
  if (opsOf(length, slots, kept) === fewestOps(length, slots)) return "";
  const count = kept.length;
  if (!count) return "ONE_CHECKPOINT";
  if (count < slots - 1) return "SLOT_EMPTY";
  if (kept.every((value, at) => value === at + 1)) return "FIRST_KEPT";
  if (kept.every((value, at) => value === length - count + at)) return "LAST_KEPT";
  const ends = [0, ...kept, length];
  const gaps = ends.slice(1).map((end, at) => end - ends[at]);
  if (Math.max(...gaps) - Math.min(...gaps) <= 1) return "EQUAL_PIECES";
  return gaps.every((gap, at) => at === 0 || gap >= gaps[at - 1]) ? "CROWDED_EARLY" : "";
}

/** @param {number} count @param {string} word */
export const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** @param {number} value */
export const nameOf = value => (value ? String(value) : "x");

/** How a game ended. @param {number} again @param {number} par */
export function scoreText(again, par) {
  const over = again - par;
  return `${many(again, "op")} ran again, ${over ? `${over} over par.` : "which is par: no plan needs fewer."}`;
}

/** What happened last. @param {Move} move */
export function moveText({ run, back }) {
  return run ? `Ran from ${nameOf(run.start)} to ${run.end}, kept ${run.kept.join(", ")}.` : `Back over ${back}: its slot is free.`;
}
