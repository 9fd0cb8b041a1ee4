/**
 * Points that can be moved: by mouse and touch (pointer events) and by keyboard (arrows; fine with shift).
 * @typedef {{
 *   move: (dx: number, dy: number, kind: "change" | "commit") => void,
 *   place: (x: number, y: number) => void,
 *   drop: () => void,
 * }} Hand  move in steps, place in picture coordinates, drop ends a drag
 */
const ARROWS = /** @type {{[key: string]: [number, number]}} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
});
const COARSE = 0.05;
const FINE = 0.005;

/** @param {SVGElement} handle @param {SVGSVGElement} picture @param {Hand} hand */
export function draggable(handle, picture, hand) {
  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    handle.focus({ preventScroll: true });
    handle.setPointerCapture(event.pointerId);
    handle.classList.add("held");
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.classList.contains("held")) return;
    const box = picture.getBoundingClientRect();
    const view = picture.viewBox.baseVal;
    hand.place(
      ((event.clientX - box.left) / box.width) * view.width,
      ((event.clientY - box.top) / box.height) * view.height,
    );
  });
  const end = () => {
    if (!handle.classList.contains("held")) return;
    handle.classList.remove("held");
    hand.drop();
  };
  handle.addEventListener("pointerup", end);
  handle.addEventListener("pointercancel", end);
  handle.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const size = event.shiftKey ? FINE : COARSE;
    hand.move(step[0] * size, step[1] * size, "change");
  });
  handle.addEventListener("keyup", (event) => {
    if (ARROWS[event.key]) hand.drop();
  });
}
