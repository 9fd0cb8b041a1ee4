/**
 * How often the focused weight takes which value, one outline per head.
 * @typedef {import("../types.js").Model} Model
 */
import { join, make, set } from "./draw.js";
import { fixed } from "../numbers.js";

const [WIDTH, BASE, TOP, LEFT, BINS] = [400, 126, 14, 34, 40];

/** Share of the samples in each bin of [0, 1]. @param {Float64Array} samples @returns {Float64Array} */
export function shares(samples) {
  const out = new Float64Array(BINS);
  for (const x of samples) out[Math.min(BINS - 1, Math.floor(x * BINS))] += 1 / samples.length;
  return out;
}

/** @param {SVGSVGElement} picture */
export function createHistogram(picture) {
  const grid = make("g", { class: "ticks" }, picture);
  make("line", { x1: LEFT, x2: WIDTH - 6, y1: BASE, y2: BASE }, grid);
  for (const level of [0, 0.25, 0.5, 0.75, 1]) {
    const x = LEFT + level * (WIDTH - 6 - LEFT);
    make("text", { x, y: BASE + 16, "text-anchor": "middle" }, grid).textContent = String(level);
  }
  const outlines = make("g", { class: "outlines" }, picture);
  const mean = make("line", { class: "mean", y1: TOP, y2: BASE }, picture);
  const empty = make("text", { class: "empty", y: 52, "text-anchor": "middle" }, picture);
  empty.textContent = "no noise: one number";

  return {
    picture,
    /** @param {Model} model */
    draw({ state, weights, mixed, cloud }) {
      const x = (/** @type {number} */ w) => LEFT + w * (WIDTH - 6 - LEFT);
      empty.classList.toggle("hidden", cloud !== null);
      set(empty, { x: x(mixed[state.focus] > 0.5 ? 0.25 : 0.75) }); // on the side where the line is not
      set(mean, { x1: x(mixed[state.focus]), x2: x(mixed[state.focus]) });
      const heads = cloud ? weights.length : 0;
      const all = Array.from({ length: heads }, (_, h) =>
        shares(/** @type {import("../types.js").Cloud} */ (cloud).focus.subarray(h * state.samples, (h + 1) * state.samples)),
      );
      const top = Math.max(0.02, ...all.map((bins) => Math.max(...bins)));
      join(outlines, heads, (h) => make("path", { class: `head-${h + 1}` })).forEach((outline, h) => {
        const steps = [...all[h]].map((share, b) => `V${(BASE - (share / top) * (BASE - TOP)).toFixed(1)}H${x((b + 1) / BINS).toFixed(1)}`);
        set(outline, { d: `M${LEFT} ${BASE}${steps.join("")}V${BASE}` });
      });
      const name = state.names[state.focus];
      set(picture, {
        "aria-label": cloud
          ? `histogram of the weight of key ${name} over ${state.samples} draws`
          : `weight of key ${name}: ${fixed(mixed[state.focus], 3)}; no noise`,
      });
    },
  };
}
