// Chips: what boxes show where the picture is too small for their lines, a name and the start of a value that stay
// readable.

import { setText } from "../dom.js";
import { CUT } from "./words.js";

/** @import { Box } from "./scene.js" */
/** @import { Slot } from "./boxes.js" */

/** Scale below which lines of text are too small to be read as they are drawn. */
export const READABLE = 0.8;
/** Pixels on the screen that letters have at least. */
export const LETTERS = 11;
/** Scale below which a name has no room above cells. */
export const TINY = 0.5;
const ABOVE = 17;
/** Pixels on the screen from one line to the next, and from the middle of letters to their foot. */
const PITCH = 13;
const FOOT = 4;
/** The height of the curve below the lines of a loop. */
const CURVED = 30;
const LETTER_WIDTH = 6.6;
const SHORT_NAME = 5;
/** The letters of short names are the wide ones more often. */
const WIDE_LETTER = 8;

/** How many letters of a value have room in a box. @param {Box} box @param {number} scale */
export const lettersIn = (box, scale) => (scale < READABLE ? Math.max(3, Math.floor((box.width * scale - 10) / LETTER_WIDTH)) : Infinity);

/** The last part of a name. @param {Box} box */
const shortest = (box) => box.label.split("/").pop() ?? "";

/** By how many pixels on the screen a box is drawn wider, on either side, for a short name: cut to a letter or two, that would say nothing. @param {Box} box @param {number} scale */
export function overhang(box, scale) {
  const name = shortest(box);
  if (scale >= READABLE || name.length > SHORT_NAME) return 0;
  return Math.min(Math.max(0, (name.length * WIDE_LETTER + 6 - box.width * scale) / 2), WIDE_LETTER);
}

/**
 * Put the lines of a box below each other, as many as have room below the name; at full size they stand where they were drawn.
 * @param {Box} box
 * @param {Slot[]} slots of which none has cells
 * @param {number} scale
 * @returns {number | undefined} where the middle of the name is, if a line stands below it
 */
export function layLines(box, slots, scale) {
  const small = scale < READABLE;
  const height = box.height - (box.series.length ? CURVED : 0);
  const room = Math.min(slots.length, small ? Math.floor((height * scale - 2) / PITCH) - 1 : slots.length);
  const pitch = PITCH / scale;
  const first = (height - room * pitch) / 2;
  slots.forEach(({ text, y }, at) => {
    if (!text) return;
    text.setAttribute("y", String(small ? first + (at + 1) * pitch + FOOT / scale : y));
    text.style.display = at < room ? "" : "none";
  });
  return small && room > 0 ? first : undefined;
}

/**
 * Write the name as large as can be read, and as much of it as the box has room for.
 * @param {Box} box
 * @param {SVGTextElement} chip
 * @param {number} scale
 * @param {boolean} [pictured] whether cells stand below the name
 * @param {number} [y] where its middle is, above lines
 */
export function fillChip(box, chip, scale, pictured = false, y = undefined) {
  const middle = box.series.length ? box.height * 0.38 : box.height / 2;
  chip.setAttribute("y", String(y ?? (pictured && scale >= TINY ? ABOVE : middle)));
  const beyond = overhang(box, scale);
  const room = Math.floor((box.width * scale + 2 * beyond - 4) / LETTER_WIDTH);
  const times = box.turns.length ? ` ×${box.turns.length}` : "";
  const wishes = [`${box.label}${times}${box.name ? ` → ${box.name}` : ""}`, `${box.label}${times}`, box.label, shortest(box)];
  setText(chip, wishes.find((wish) => wish.length <= room) ?? (room > 1 ? `${wishes[3].slice(0, room - 1)}${CUT}` : ""));
  chip.parentElement?.style.setProperty("--wider", String(1 + 2 * beyond / (box.width * scale)));
  chip.style.fontSize = `${(LETTERS / scale).toFixed(1)}px`;
}
