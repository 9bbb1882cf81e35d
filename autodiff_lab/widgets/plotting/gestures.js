// What a pointer, a wheel and keys do in a plot: drag a handle, move the paper, zoom.  Every plot takes them from here.

import { followPointer, giveBack, keepKeys } from "../host.js";

/**
 * What a press starts: it follows the pointer, in pixels of the picture, until it is released.
 * @typedef {(x: number, y: number) => void} Follow
 *
 * @typedef {{
 *   take: (x: number, y: number, event: PointerEvent) => Follow | null,
 *   zoom?: (factor: number, x: number, y: number) => void,
 *   pan?: (dx: number, dy: number) => void,
 * }} Gestures
 */

const PER_DOUBLING = 240; // pixels of the wheel

/**
 * The pointer in pixels of the picture.
 * @param {SVGSVGElement} svg
 * @param {MouseEvent} event
 * @returns {[number, number]}
 */
function pointerAt(svg, event) {
  const box = svg.getBoundingClientRect();
  const scaled = svg.viewBox.baseVal.width / box.width; // 1, unless the page is narrower than the picture may be
  return [(event.clientX - box.left) * scaled, (event.clientY - box.top) * scaled];
}

/**
 * A press takes whatever `take` finds there, and with Shift it moves the paper.  The plain wheel belongs to the page, which
 * scrolls; with Ctrl (as pinching arrives) it zooms.
 * @param {SVGSVGElement} svg
 * @param {Gestures} gestures
 * @param {AbortSignal} stop
 */
export function listenToPointer(svg, { take, zoom, pan }, stop) {
  svg.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    const [startX, startY] = pointerAt(svg, event);
    let [lastX, lastY] = [startX, startY];
    const paper = (/** @type {number} */ x, /** @type {number} */ y) => {
      pan?.(lastX - x, lastY - y);
      [lastX, lastY] = [x, y];
    };
    const follow = event.shiftKey && pan ? paper : take(startX, startY, event);
    if (!follow) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    followPointer(svg, stop, moved => follow(...pointerAt(svg, moved)));
    if (follow !== paper) follow(startX, startY);
  }, { signal: stop });
  if (!zoom) return;
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    if (pan && Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX, 0);
    else zoom(2 ** (-event.deltaY / PER_DOUBLING), ...pointerAt(svg, event));
  }, { signal: stop, passive: false });
}

/**
 * Keys of a plot.  Plain ones stay in it; those of the host go on to it, and Esc gives the focus back.
 * @param {HTMLElement} root
 * @param {(event: KeyboardEvent) => (() => void) | null} action
 * @param {AbortSignal} signal
 */
export function listenToPlotKeys(root, action, signal) {
  keepKeys(root, signal, event => {
    if (event.key === "Escape") giveBack(root);
    return action(event);
  });
}
