// Saves a plot as an SVG file that looks the same without the page's style sheet.

import { add } from "../plotting/elements.js";

/** Written as attributes, since the policy of a page refuses styles of single elements. */
const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "paint-order", "font-family",
  "font-size", "font-weight", "text-anchor",
];

/**
 * The plot as the text of an SVG, with a title and a sentence.
 * @param {SVGSVGElement} svg
 * @param {string} title
 * @param {string} sentence
 */
export function pictureText(svg, title, sentence) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    to[k].removeAttribute("class");
    for (const name of KEPT) to[k].setAttribute(name, style.getPropertyValue(name));
  });
  const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 640 480").split(" ").map(Number);
  const style = getComputedStyle(svg);
  const paper = style.getPropertyValue("--paper").trim() || "white";
  for (const name of ["tabindex", "role", "class", "aria-label"]) copy.removeAttribute(name);
  copy.setAttribute("viewBox", `0 0 ${width} ${height + 28}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height + 28));
  copy.prepend(Object.assign(document.createElementNS(copy.namespaceURI ?? "", "title"), { textContent: title }));
  copy.children[0].after(add(copy, "rect", { width, height: height + 28, fill: paper }));
  add(copy, "text", { x: 12, y: height + 12, "font-family": style.fontFamily, "font-size": 13, fill: style.color }, sentence);
  return new XMLSerializer().serializeToString(copy);
}

/** @param {SVGSVGElement} svg @param {string} title @param {string} sentence */
export function savePicture(svg, title, sentence) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([pictureText(svg, title, sentence)], { type: "image/svg+xml" }));
  link.download = "sketch.svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
