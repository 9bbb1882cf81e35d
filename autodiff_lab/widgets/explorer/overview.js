// The overview: the whole picture in a corner, with the frame that the reader looks at; only there when it is needed.

import { drawing, element } from "./dom.js";

/** @import { View, Box } from "./scene.js" */
/** @import { Look, Size } from "./viewport.js" */

const MOST = { width: 168, height: 104 };
const LEAST = 24;

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
  /** Pixels here for a pixel of the picture; a long thin picture is stretched, so that it is more than a thread. */
  let across = 1;
  let down = 1;

  const follow = (/** @type {PointerEvent} */ event) => {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const corner = canvas.getBoundingClientRect();
    goTo((event.clientX - corner.left) / across, (event.clientY - corner.top) / down);
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
      const scale = Math.min(MOST.width / Math.max(view.width, 1), MOST.height / Math.max(view.height, 1));
      across = Math.max(scale, LEAST / Math.max(view.width, 1));
      down = Math.max(scale, LEAST / Math.max(view.height, 1));
      canvas.setAttribute("width", String(Math.ceil(view.width * across)));
      canvas.setAttribute("height", String(Math.ceil(view.height * down)));
      shape.setAttribute("d", view.boxes.map((box) => {
        const width = Math.max(box.width * across, 0.8).toFixed(1);
        const height = Math.max(box.height * down, 0.8).toFixed(1);
        return `M${(box.x * across).toFixed(1)} ${(box.y * down).toFixed(1)}h${width}v${height}h-${width}z`;
      }).join(""));
    },
    /** @param {Box | null} box */
    now(box) {
      here.toggleAttribute("hidden", !box);
      if (box) place(here, [box.x * across - 1, box.y * down - 1, box.width * across + 2, box.height * down + 2]);
    },
    /** @param {Look} look @param {Size} panel @param {View} view */
    frame(look, panel, view) {
      const x = Math.max((-look.x / look.scale) * across, 0);
      const y = Math.max((-look.y / look.scale) * down, 0);
      const right = Math.min(((panel.width - look.x) / look.scale) * across, view.width * across);
      const bottom = Math.min(((panel.height - look.y) / look.scale) * down, view.height * down);
      place(frameRect, [x, y, right - x, bottom - y]);
      const whole = look.x >= -1 && look.y >= -1 && look.x + view.width * look.scale <= panel.width + 1
        && look.y + view.height * look.scale <= panel.height + 1;
      made.hidden = whole || Boolean(view.why);
    },
  };
}
