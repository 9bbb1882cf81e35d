// What the explorer makes of elements: formulas, icons, buttons, and what is copied.

import { drawing, element } from "../dom.js";
import { marked } from "./words.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const MATH_ELEMENTS = new Set(("math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder "
  + "munderover mtable mtr mtd mstyle mpadded").split(" "));

/** @type {Map<string, Element>} formulas that were parsed before */
const PARSED = new Map();

/**
 * A formula with the names of its inputs: MathML rebuilt from a short list of elements, else text.
 * @param {string} template from draw/formula.py
 * @param {string[]} names
 * @returns {Node}
 */
export function formula(template, names) {
  if (template.startsWith("<math")) {
    const root = PARSED.get(template) ?? new DOMParser().parseFromString(template, "text/xml").documentElement;
    PARSED.set(template, root);
    if (root.localName === "math") return rebuilt(root, names);
  }
  return element("code", { class: "formula" }, marked(template, names));
}

/** @param {Element} source @param {string[]} names @returns {Node} */
function rebuilt(source, names) {
  const known = MATH_ELEMENTS.has(source.localName);
  /** @type {Element | DocumentFragment} */
  const made = known ? document.createElementNS(MATHML, source.localName) : document.createDocumentFragment();
  if (made instanceof Element) {
    for (const { name, value } of source.attributes) if (/^[a-z]+$/.test(name) && !name.startsWith("on")) made.setAttribute(name, value);
  }
  for (const child of source.childNodes) {
    if (child instanceof Element) made.append(rebuilt(child, names));
    else made.append(marked(child.textContent ?? "", names));
  }
  return made;
}

/** Icons as paths in a box of 16 by 16, so that no font draws them as an emoji. */
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  previous: "M11 3v10L4 8z",
  next: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  search: "M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2zm0 1.6a3.4 3.4 0 1 0 0 6.8a3.4 3.4 0 0 0 0-6.8zM10.4 11.5l1.1-1.1 3.2 3.2-1.1 1.1z",
  source: "M1 2h9v1.6H1zM4 6h11v1.6H4zM4 10h7v1.6H4zM1 14v-1.6h12V14z",
  full: "M2 2h5v1.6H4.7L7 5.9 5.9 7 3.6 4.7V7H2zM14 14H9v-1.6h2.3L9 10.1 10.1 9l2.3 2.3V9H14z",
  more: "M2 6.5h3v3H2zM6.5 6.5h3v3h-3zM11 6.5h3v3h-3z",
};

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  return drawing("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, drawing("path", { d: ICONS[name], "fill-rule": "evenodd" }));
}

/**
 * A button with a name for those who cannot see its icon, and a tip with its key.
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {string} key
 * @param {() => void} act
 * @param {string} [pressed]
 */
export function iconButton(name, label, key, act, pressed) {
  return element("button", { type: "button", class: `tool ${name}`, "aria-label": label, "aria-pressed": pressed, title: `${label} (${key})`, onclick: act }, icon(name));
}

/**
 * Copied text has every digit, not the four that are shown.
 * @param {ClipboardEvent} event
 * @param {HTMLElement} root
 */
export function copyInFull(event, root) {
  const selection = root.ownerDocument.getSelection();
  if (!event.clipboardData || !selection || selection.isCollapsed) return;
  const copied = selection.getRangeAt(0).cloneContents();
  const numbers = copied.querySelectorAll("[data-full]");
  if (!numbers.length) return;
  for (const number of numbers) number.textContent = number.getAttribute("data-full") || number.textContent;
  event.clipboardData.setData("text/plain", copied.textContent ?? "");
  event.preventDefault();
}
