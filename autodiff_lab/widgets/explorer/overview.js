// The overview: the whole picture in a corner, with the frame that the reader looks at; only there when it is needed.

import { drawing, element } from "./dom.js";

/** @import { View, Box } from "./scene.js" */
/** @import { Look, Size } from "./viewport.js" */

const MOST = { width: 168, height: 104 };

/**
 * @param {(x: number, y: number) => void} goTo centre this point of the picture
 * @param {AbortSignal} signal
 */
export function makeOverview(goTo, signal) {
  const shape = drawing("path", { class: "shape" });
  const here = drawing("rect", { class: "here" });
  const frameRect = drawing("rect", { class: "frame" });
  const canvas = drawing("svg", { "aria-hidden": "true" }, shape, here, frameRect);
  const made = element("div", { class: "overview", title: "Overview: click to go there" }, canvas);
  let scale = 1;

  const follow = (/** @type {PointerEvent} */ event) => {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const corner = canvas.getBoundingClientRect();
    goTo((event.clientX - corner.left) / scale, (event.clientY - corner.top) / scale);
  };
  made.addEventListener("pointerdown", follow, { signal });
  made.addEventListener("pointermove", follow, { signal });

  /** @param {SVGRectElement} rect @param {number[]} numbers */
  const place = (rect, [x, y, width, height]) => {
    rect.setAttribute("x", String(x));
    rect.setAttribute("y", String(y));
    rect.setAttribute("width", String(Math.max(width, 3)));
    rect.setAttribute("height", String(Math.max(height, 3)));
  };

  return {
    element: made,
    /** @param {View} view */
    open(view) {
      scale = Math.min(MOST.width / Math.max(view.width, 1), MOST.height / Math.max(view.height, 1));
      canvas.setAttribute("width", String(Math.max(Math.ceil(view.width * scale), 12)));
      canvas.setAttribute("height", String(Math.max(Math.ceil(view.height * scale), 12)));
      const size = (/** @type {number} */ length) => Math.max(length * scale, 0.8).toFixed(1);
      shape.setAttribute("d", view.boxes.map((box) => (
        `M${(box.x * scale).toFixed(1)} ${(box.y * scale).toFixed(1)}h${size(box.width)}v${size(box.height)}h-${size(box.width)}z`
      )).join(""));
    },
    /** @param {Box | null} box */
    now(box) {
      here.toggleAttribute("hidden", !box);
      if (box) place(here, [box.x * scale - 1, box.y * scale - 1, box.width * scale + 2, box.height * scale + 2]);
    },
    /** @param {Look} look @param {Size} panel @param {View} view */
    frame(look, panel, view) {
      const seen = [-look.x, -look.y, panel.width, panel.height].map((length) => (length / look.scale) * scale);
      place(frameRect, seen);
      const whole = look.x >= -1 && look.y >= -1 && look.x + view.width * look.scale <= panel.width + 1
        && look.y + view.height * look.scale <= panel.height + 1;
      made.hidden = whole || Boolean(view.why);
    },
  };
}
