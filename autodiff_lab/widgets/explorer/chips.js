// Chips: what boxes show where the picture is too small for letters of their own size, a name that stays readable, and
// below it as many of their numbers, and as much of each, as there is room for.

import { drawing, setText } from "../dom.js";
import { short } from "../numbers.js";
import { CUT } from "./words.js";

/** @import { Box } from "./scene.js" */
/** @import { Slot } from "./boxes.js" */

/** Scale below which lines of their own size, for which boxes have room, cannot be read. */
export const READABLE = 0.92;
/** Scale below which the numbers on edges have no room. */
export const FAR = 0.8;
/** Pixels on the screen that letters have at least. */
export const LETTERS = 11;
/** Scale below which a name has no room above cells. */
export const TINY = 0.5;
const ABOVE = 17;
/** Pixels on the screen from line to line, and that a box has above and below its lines together. */
const CHIP_LINE = 13;
const CHIP_PAD = 4;
/** Fewer letters say nothing. */
const LEAST_LETTERS = 3;
/** The part of a box that its lines may take where a curve is below them. */
const ABOVE_CURVE = 0.6;
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
  const wishes = [`${box.label}${times}${box.name ? `${box.label.endsWith("→") ? "" : " →"} ${box.name}` : ""}`, `${box.label}${times}`, box.label, shortest(box)];
  setText(chip, wishes.find((wish) => wish.length <= room) ?? (room > 1 ? `${wishes[3].slice(0, room - 1)}${CUT}` : ""));
  chip.parentElement?.style.setProperty("--wider", String(1 + 2 * beyond / (box.width * scale)));
  chip.style.fontSize = `${(LETTERS / scale).toFixed(1)}px`;
}

/**
 * Put the numbers of a small box below its name.  Where one of two has room it is the gradient on the way back, once that is
 * known, and else the value.
 * @param {Box} box
 * @param {{ chip: SVGTextElement, value: Slot | null, gradient: Slot | null }} picture
 * @param {number} scale
 * @returns {boolean} whether one has no room
 */
export function placeNumbers(box, { chip, value, gradient }, scale) {
  // What is pictured as cells is as small as the box, and needs no letters.
  const slots = [value, gradient].flatMap((slot) => (slot && !slot.cells ? [slot] : []));
  const usable = box.height * (box.series.length ? ABOVE_CURVE : 1);
  const letters = Math.floor((box.width * scale - CHIP_PAD) / LETTER_WIDTH);
  const lines = letters < LEAST_LETTERS ? 0 : Math.min(Math.floor((usable * scale - CHIP_PAD) / CHIP_LINE) - 1, slots.length);
  const first = (usable - (lines * CHIP_LINE) / scale) / 2;
  if (lines > 0) chip.setAttribute("y", String(first));
  const single = lines === 1 && slots.length === 2;
  slots.forEach((slot, at) => {
    const fits = single || at < lines;
    slot.letters = fits ? letters : 0;
    slot.group.classList.toggle("fits", fits);
    slot.group.classList.toggle("single", single);
    if (!fits) return;
    slot.small ??= slot.group.appendChild(drawing("text", { class: `small small-${slot.name}` }));
    slot.small.setAttribute("x", String(box.width / 2));
    slot.small.setAttribute("y", String(first + ((single ? 1 : at + 1) * CHIP_LINE) / scale));
    slot.small.style.fontSize = `${(LETTERS / scale).toFixed(1)}px`;
    setText(slot.small, shortened(slot.full, letters));
  });
  return lines < slots.length;
}

/**
 * A value in so many letters: first digits are left out, then the end of a list or of words, but never part of a number.
 * @param {string} text
 * @param {number} letters
 */
export function shortened(text, letters) {
  if (text.length <= letters) return text;
  const less = [3, 2].map((digits) => text.replace(NUMBER, (written) => short(Number(written.replaceAll("−", "-")), digits)));
  const fits = less.find((each) => each.length <= letters);
  if (fits !== undefined) return fits;
  const start = less[1].slice(0, letters - 1);
  const whole = /[\d.]$/.test(start) && /^[\d.e]/.test(less[1].slice(letters - 1)) ? start.replace(PARTIAL, "") : start;
  return whole.trim() ? `${whole.trimEnd()}${CUT}` : "";
}

const NUMBER = /−?\d+\.\d+(e−?\d+)?/g;
const PARTIAL = /−?[\d.]+(e−?\d*)?$/;
