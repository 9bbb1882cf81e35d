// The game "Find the best step in five tries": what was tried, and the score.  Pure.

import { bestStep } from "./steps.js";

export const TRIES = 5;

export class StepGame {
  /** @param {number[]} h @param {number[]} errors of the function that was dealt, one for each step */
  constructor(h, errors) {
    this.errors = errors;
    this.best = bestStep(h, errors);
    /** @type {number[]} */
    this.tried = [];
  }

  get isOver() {
    return this.tried.length >= TRIES;
  }

  /** @param {number} index @returns {boolean} whether it counted: not twice the same, not after the end */
  try(index) {
    if (this.isOver || this.tried.includes(index) || !Number.isFinite(this.errors[index])) return false;
    this.tried.push(index);
    return true;
  }

  /** Index of the best step tried so far; −1 before the first. */
  get leader() {
    return this.tried.reduce((best, index) => (best < 0 || this.errors[index] < this.errors[best] ? index : best), -1);
  }

  /** The smallest error found, as a multiple of the best one; at least 1, because a lucky hit is none that lasts. */
  get score() {
    if (this.leader < 0) return NaN;
    return Math.max(1, this.errors[this.leader] / Math.max(this.best.error, Number.MIN_VALUE));
  }
}
