// Making elements of a plot and of what stands around it.  Text is set as text and never parsed.

import { drawing, element, pictureFrom } from "../dom.js";

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Element} parent
 * @param {Name} name
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(parent, name, className = "", text = "") {
  const made = element(name, { class: className || undefined }, text);
  parent.append(made);
  return made;
}

/**
 * @param {Element} parent
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @param {string} [text]
 * @returns {SVGElement}
 */
export function add(parent, name, attributes = {}, text = "") {
  const made = drawing(/** @type {keyof SVGElementTagNameMap} */ (name), attributes, text);
  parent.append(made);
  return made;
}

/**
 * The markup of a drawing, escaped by Python, as an SVG element; a sentence beside it says what it shows.
 * @param {string} markup
 * @param {string} name its class
 * @param {string} box its view box
 * @param {number} width
 */
export function drawnFrom(markup, name, box, width) {
  const svg = pictureFrom(`<svg xmlns="http://www.w3.org/2000/svg">${markup}</svg>`);
  for (const [key, value] of Object.entries({ class: name, viewBox: box, width })) svg.setAttribute(key, String(value));
  return svg;
}

/** A sentence that is read aloud when it changes. @param {Element} parent @param {"p" | "span"} [name] */
export function addLive(parent, name = "p") {
  const made = make(parent, name, "sentence");
  made.setAttribute("aria-live", "polite");
  return made;
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {string} label what it does, for the pointer and for screen readers
 * @param {() => void} act
 * @param {AbortSignal} signal
 */
export function addButton(parent, text, label, act, signal) {
  const made = element("button", { type: "button", title: label, "aria-label": label }, text);
  made.addEventListener("click", act, { signal });
  parent.append(made);
  return made;
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {(on: boolean) => void} act
 * @param {AbortSignal} signal
 */
export function addCheckbox(parent, text, act, signal) {
  const box = element("input", { type: "checkbox" });
  parent.append(element("label", {}, box, text));
  box.addEventListener("change", () => act(box.checked), { signal });
  return box;
}
