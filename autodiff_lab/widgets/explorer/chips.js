// Chips: what boxes show where the picture is too small for their numbers, a name that stays readable.

import { setText } from "../dom.js";
import { CUT } from "./words.js";

/** @import { Box } from "./scene.js" */

/** Scale below which numbers have no room at the size at which they can be read. */
export const READABLE = 0.8;
/** Pixels on the screen that letters have at least. */
export const LETTERS = 11;
/** Scale below which a name has no room above cells. */
export const TINY = 0.5;
const ABOVE = 17;
const LETTER_WIDTH = 6.6;
const SHORT_NAME = 5;
/** The letters of short names are the wide ones more often. */
const WIDE_LETTER = 8;

/** The last part of a name. @param {Box} box */
const shortest = (box) => box.label.split("/").pop() ?? "";

/** By how many pixels on the screen a box is drawn wider, on either side, for a short name: cut to a letter or two, that would say nothing. @param {Box} box @param {number} scale */
export function overhang(box, scale) {
  const name = shortest(box);
  if (scale >= READABLE || name.length > SHORT_NAME) return 0;
  return Math.min(Math.max(0, (name.length * WIDE_LETTER + 6 - box.width * scale) / 2), WIDE_LETTER);
}

/**
 * Write the name as large as can be read, and as much of it as the box has room for.
 * @param {Box} box
 * @param {SVGTextElement} chip
 * @param {number} scale
 * @param {boolean} [pictured] whether cells stand below the name
 */
export function fillChip(box, chip, scale, pictured = false) {
  const middle = box.series.length ? box.height * 0.38 : box.height / 2;
  chip.setAttribute("y", String(pictured && scale >= TINY ? ABOVE : middle));
  const beyond = overhang(box, scale);
  const room = Math.floor((box.width * scale + 2 * beyond - 4) / LETTER_WIDTH);
  const times = box.turns.length ? ` ×${box.turns.length}` : "";
  const wishes = [`${box.label}${times}${box.name ? ` → ${box.name}` : ""}`, `${box.label}${times}`, box.label, shortest(box)];
  setText(chip, wishes.find((wish) => wish.length <= room) ?? (room > 1 ? `${wishes[3].slice(0, room - 1)}${CUT}` : ""));
  chip.parentElement?.style.setProperty("--wider", String(1 + 2 * beyond / (box.width * scale)));
  chip.style.fontSize = `${(LETTERS / scale).toFixed(1)}px`;
}
