// Making elements of a plot and of what stands around it.  Text is set as text and never parsed.

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Element} parent
 * @param {Name} name
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(parent, name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

/**
 * @param {Element} parent
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @param {string} [text]
 * @returns {SVGElement}
 */
export function add(parent, name, attributes = {}, text = "") {
  const element = detached(name, attributes);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

/**
 * An SVG element that is not in the page yet.
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @returns {SVGElement}
 */
export function detached(name, attributes = {}) {
  const element = /** @type {SVGElement} */ (document.createElementNS(NAMESPACE, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/**
 * The markup of a drawing, escaped by Python, as an SVG element; a sentence beside it says what it shows.
 * @param {string} markup
 * @param {string} name its class
 * @param {string} box its view box
 * @param {number} width
 */
export function drawnFrom(markup, name, box, width) {
  const parsed = new DOMParser().parseFromString(`<svg xmlns="${NAMESPACE}">${markup}</svg>`, "image/svg+xml").documentElement;
  const svg = /** @type {SVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
  const attributes = { class: name, viewBox: box, width, "aria-hidden": "true" };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, String(value));
  return svg;
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {string} label what it does, for the pointer and for screen readers
 * @param {() => void} act
 * @param {AbortSignal} signal
 */
export function addButton(parent, text, label, act, signal) {
  const made = make(parent, "button", "", text);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act, { signal });
  return made;
}

/**
 * @param {Element} parent
 * @param {string} text
 * @param {(on: boolean) => void} act
 * @param {AbortSignal} signal
 */
export function addCheckbox(parent, text, act, signal) {
  const label = make(parent, "label");
  const box = make(label, "input");
  box.type = "checkbox";
  label.append(text);
  box.addEventListener("change", () => act(box.checked), { signal });
  return box;
}
