// Making elements.  Text is always set as text, never parsed, so that names and messages cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | undefined | ((event: any) => void)>} Attributes */
/** @typedef {(Node | string)[]} Children */

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes] those that are undefined or false are left out, true ones are empty; a function
 *   listens to the event after `on`
 * @param {Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Children} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function drawing(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} made
 * @param {Attributes} attributes
 * @param {Children} children
 * @returns {E}
 */
function dressed(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== ""));
  return made;
}

/** A picture that Python has drawn, its text escaped; what it shows is said beside it. @param {string} markup */
export function pictureFrom(markup) {
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
  const made = /** @type {SVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
  made.setAttribute("aria-hidden", "true");
  return made;
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
