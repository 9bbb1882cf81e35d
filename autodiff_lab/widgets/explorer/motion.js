// Motion of the graph when folds open or close: 150 ms, and none where less motion is asked for.

const TIME = { duration: 150, easing: "ease-out" };

/** @param {Element} group @param {Keyframe[]} frames */
function animate(group, frames) {
  const still = group.ownerDocument.defaultView?.matchMedia("(prefers-reduced-motion: reduce)").matches ?? true;
  if (!still && "animate" in group) group.animate(frames, TIME);
}

/**
 * Move a box from where it was; one that was not there fades in.
 * @param {Element} group @param {import("./scene.js").Box | undefined} before @param {import("./scene.js").Box} now
 */
export function glide(group, before, now) {
  if (!before) appear(group);
  else if (before.x !== now.x || before.y !== now.y) animate(group, [before, now].map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` })));
}

/** @param {Element} group */
export function appear(group) {
  animate(group, [{ opacity: 0 }, { opacity: 1 }]);
}
