/**
 * Which outputs move when a token is left out: a row for every output, a cell for every token. The fuller a cell,
 * the further the output moves, from rounding (1e-16) to everything on a logarithmic scale.
 * @typedef {import("../types.js").Model} Model
 */
import { dependency } from "../maths/dependency.js";
import { join, make, set, subscript } from "./draw.js";

const [WIDTH, LEFT, TOP, ROW] = [400, 34, 22, 24];
const DECADES = 16;

/** @param {SVGSVGElement} picture @param {HTMLElement} reading */
export function createDependency(picture, reading) {
  const tokens = make("g", { class: "labels" }, picture);
  const names = make("g", { class: "output" }, picture);
  const cells = make("g", { class: "cells" }, picture);

  return {
    picture,
    /** @param {Model} model */
    draw(model) {
      const { state, settled } = model;
      const { moves, depends } = dependency(model);
      const [rows, n] = [moves.length, state.values.length];
      const slot = (WIDTH - LEFT) / n;
      const side = Math.min(slot, ROW);
      const most = Math.max(...moves.flat(), Number.MIN_VALUE);
      set(picture, { viewBox: `0 0 ${WIDTH} ${TOP + rows * ROW + 4}` });
      join(cells, rows * n, () => make("g")).forEach((cell, index) => {
        const [row, j] = [Math.floor(index / n), index % n];
        const [x, y] = [LEFT + slot * j + (slot - side) / 2, TOP + ROW * row + (ROW - side) / 2];
        const [empty, full] = join(cell, 2, (i) => make("rect", { rx: 2, class: i ? "moved" : "still" }));
        const place = { x: x + 1, y: y + 1, width: side - 2, height: side - 2 };
        const far = 1 + Math.log10(moves[row][j] / most || 1e-300) / DECADES;
        const own = row < state.directions.length;
        set(cell, { class: own ? `head-${row + 1}` : "" });
        set(empty, { ...place, fill: "var(--wash)" });
        set(full, { ...place, fill: own ? "var(--head)" : "var(--output)", "fill-opacity": depends[row][j] ? Math.max(far, 0.12) : 0 });
      });
      join(tokens, n, () => make("text", { class: "label", y: TOP - 6, "text-anchor": "middle" })).forEach((label, j) => {
        set(label, { x: LEFT + slot * (j + 0.5) });
        label.textContent = n > 24 && j % 5 ? "" : state.names[j];
      });
      join(names, rows, () => make("text", { class: "label", x: LEFT - 8, "text-anchor": "end" })).forEach((label, row) => {
        set(label, { y: TOP + ROW * (row + 0.5) + 4 });
        subscript(label, "c", row < state.directions.length && rows > 1 ? String(row + 1) : "");
      });
      if (settled) say(state.names, depends);
    },
  };

  /** The last row is the output. @param {string[]} letters @param {boolean[][]} depends */
  function say(letters, depends) {
    const last = depends[depends.length - 1];
    const [seen, unseen] = [true, false].map((wanted) => letters.filter((_, j) => last[j] === wanted));
    const rest = unseen.length ? `; without ${unseen.join(", ")} it is the same to the last digit` : "";
    set(picture, { "aria-label": `the output depends on ${seen.join(", ") || "no token"}${rest}` });
    reading.textContent = unseen.length
      ? `c depends on ${seen.length} of ${letters.length} tokens: without the others it is the same to the last digit`
      : `c depends on every one of ${letters.length} tokens, and not on their order`;
  }
}
