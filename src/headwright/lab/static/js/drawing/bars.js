/**
 * Weights as bars: one group per key, one bar per head; the line is the mixed weight.
 * @typedef {import("../types.js").Model} Model
 */
import { join, make, set, subscript } from "./draw.js";
import { fixed } from "../numbers.js";

const [WIDTH, HEIGHT, BASE, TOP] = [400, 150, 126, 14];

/** @param {SVGSVGElement} picture @param {(key: number) => void} pick */
export function createBars(picture, pick) {
  const grid = make("g", { class: "ticks" }, picture);
  for (const level of [0, 0.5, 1]) {
    const at = BASE - level * (BASE - TOP);
    make("line", { x1: 30, x2: WIDTH, y1: at, y2: at }, grid);
    make("text", { x: 24, y: at + 3.5, "text-anchor": "end" }, grid).textContent = String(level);
  }
  const bars = make("g", { class: "bars" }, picture);
  const labels = make("g", { class: "labels" }, picture);

  return {
    picture,
    /** @param {Model} model */
    draw({ state, weights, mixed, settled }) {
      const [n, h] = [mixed.length, weights.length];
      const slot = (WIDTH - 34) / n;
      const wide = Math.min(slot * 0.7, 34);
      join(bars, n * h, () => make("rect", { rx: 1.5 })).forEach((bar, index) => {
        const [head, i] = [Math.floor(index / n), index % n];
        const tall = Math.max(weights[head][i] * (BASE - TOP), 0.8);
        set(bar, {
          class: `head-${head + 1}`, x: 34 + slot * (i + 0.5) - wide / 2 + (head * wide) / h, width: Math.max(wide / h - 1, 1),
          y: BASE - tall, height: tall,
        });
      });
      join(labels, n, (i) => {
        const label = make("text", { class: "label", y: HEIGHT - 6, "text-anchor": "middle" });
        label.addEventListener("click", () => pick(i));
        return label;
      }).forEach((label, i) => {
        set(label, { x: 34 + slot * (i + 0.5) });
        label.classList.toggle("focused", i === state.focus);
        subscript(label, n > 12 ? "" : "α", n > 24 && i % 5 ? "" : state.names[i]);
      });
      if (settled) set(picture, { "aria-label": `weights: ${mixed.map((w, i) => `${state.names[i]} ${fixed(w, 3)}`).join(", ")}` });
    },
  };
}
