// The board of checkpoints in the page: the same games as in the kernel, par, and the ideas behind bad boards.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fewestOps, ideaOf, moveText, opsOf, play, scoreText, stateOf } from "../../autodiff_lab/widgets/checkpoints/rules.js";

test("par: 6 for 9 values and 3 slots, 15 for 20 and 5, 120 for 16 and 1", () => {
  assert.deepEqual([[9, 3], [20, 5], [16, 1], [16, 4], [5, 8]].map(([n, s]) => fewestOps(n, s) - n), [6, 15, 120, 14, 0]);
});

test("no first run of a small board is cheaper than par", () => {
  for (let at = 0; at < 1 << 8; at += 1) {
    const kept = [1, 2, 3, 4, 5, 6, 7, 8].filter(value => at & (1 << (value - 1)));
    if (kept.length < 3) assert.ok(opsOf(9, 3, kept) >= fewestOps(9, 3));
  }
});

test("a game: runs, steps back, what is held and what ran again", () => {
  const game = play(9, 3, [[7, 4]]);
  assert.equal(game.asked, null);
  assert.equal(game.firstLoss, null);
  assert.deepEqual(game.moves.flatMap(({ run }) => (run ? [[run.start, run.end, ...run.kept]] : [])), [[0, 9, 4, 7, 9], [7, 8, 8], [4, 6, 5, 6], [0, 3, 1, 2, 3]]);
  assert.deepEqual(game.moves.filter(({ run }) => !run).map(({ back }) => back), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  const end = stateOf(9, game.moves);
  assert.deepEqual([end.held, end.need, end.again, end.most], [[], 0, 6, 3]);
  assert.deepEqual(stateOf(9, game.moves.slice(0, 1)).held, [4, 7, 9]);
});

test("a run waits for a choice where not everything fits", () => {
  assert.deepEqual(play(9, 3, []).asked, { start: 0, end: 9, free: 3 });
  const game = play(16, 4, [[12, 14, 15]]);
  assert.deepEqual(game.asked, { start: 0, end: 11, free: 4 });
  assert.deepEqual(game.firstLoss, { start: 0, end: 16, free: 4, kept: [12, 14, 15] });
});

test("ideas behind bad boards", () => {
  const boards = [[], [10], [1, 2, 3, 4], [16, 17, 18, 19], [4, 8, 12, 16], [2, 5, 9, 14], [6, 11, 15, 18], [3, 11, 12, 17]];
  assert.deepEqual(boards.map(kept => ideaOf(20, 5, kept)), ["ONE_CHECKPOINT", "SLOT_EMPTY", "FIRST_KEPT", "LAST_KEPT", "EQUAL_PIECES", "CROWDED_EARLY", "", ""]);
});

test("the twin in words", () => {
  assert.equal(moveText({ run: { start: 0, end: 3, kept: [1, 3] }, back: 0 }), "Ran from x to 3, kept 1, 3.");
  assert.equal(moveText({ run: null, back: 2 }), "Back over 2: its slot is free.");
  assert.equal(scoreText(7, 6), "7 ops ran again, 1 over par.");
  assert.equal(scoreText(1, 1), "1 op ran again, which is par: no plan needs fewer.");
});
