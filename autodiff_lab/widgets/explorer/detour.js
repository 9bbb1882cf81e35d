// Edges that lead past a frame: the picture around an open fold was moved apart, and a line that only passes by would
// run behind the boxes inside.  It goes around, below or above, or in a picture that runs down on either side.  Pure: no DOM.

import { along } from "./viewport.js";

/** @import { Box } from "./scene.js" */
/** @typedef {[number, number]} Point */

const PAST_SAMPLES = 32;
/** Pixels from the frame to a line around it, and between such lines. */
const PAST = 14;
const PAST_LANE = 6;
/** Pixels by which a line may touch a frame. */
const PAST_RIM = 3;

/** Whether a curve runs through a frame. @param {Point[]} points @param {Box} frame */
export function runsThrough(points, frame) {
  return Array.from({ length: PAST_SAMPLES + 1 }, (_, at) => along(points, at / PAST_SAMPLES)).some(([x, y]) => (
    x > frame.x + PAST_RIM && x < frame.x + frame.width - PAST_RIM && y > frame.y + PAST_RIM && y < frame.y + frame.height - PAST_RIM));
}

/**
 * A curve with the same ends that goes around a frame.
 * @param {Point[]} points @param {Box} frame @param {number} lane how many go around it already
 * @param {boolean} down whether the picture runs from top to bottom
 * @returns {Point[]}
 */
export function detour(points, frame, lane, down) {
  const turn = (/** @type {Point} */ [x, y]) => /** @type {Point} */ (down ? [y, x] : [x, y]);
  const [start, end] = [turn(points[0]), turn(points[points.length - 1])];
  const [left, top] = turn([frame.x, frame.y]);
  const [right, bottom] = turn([frame.x + frame.width, frame.y + frame.height]);
  const reach = PAST + lane * PAST_LANE;
  // The side of its end, and if that is behind the frame the side of its start; above the picture there is no room.
  const side = end[1] > bottom ? 1 : end[1] < top ? -1 : start[1] - (top + bottom) / 2;
  const below = side > 0 || top < reach;
  const level = below ? bottom + reach : top - reach;
  /** @type {Point[]} */
  const corners = [];
  if (start[0] < left) corners.push([left - PAST, level]);
  if (end[0] > right) corners.push([right + PAST, level]);
  if (!corners.length) corners.push([(start[0] + end[0]) / 2, level]);
  const stops = [start, ...corners, end];
  const curve = stops.slice(1).flatMap((to, at) => {
    const middle = (stops[at][0] + to[0]) / 2;
    return /** @type {Point[]} */ ([[middle, stops[at][1]], [middle, to[1]], to]);
  });
  return [start, ...curve].map(turn);
}
