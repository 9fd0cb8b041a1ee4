/**
 * Keys of more than two dimensions, shown through their logits: one column per key, one movable mark per head.
 * Dragging a logit moves the query along that key, q += k_i dz / |k_i|^2; keys that are not orthogonal move along,
 * as they must.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").State} State
 * @typedef {import("../state/store.js").Store} Store
 */
import { dot } from "../maths/attention.js";
import { join, make, set, subscript } from "./draw.js";
import { draggable } from "./handles.js";
import { logitsLaw } from "../maths/law.js";
import { fixed, short } from "../numbers.js";

const SIZE = 400;
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 10, 18, 34];

/** @param {SVGSVGElement} picture @param {Store} store */
export function createLogitPlane(picture, store) {
  const ticks = make("g", { class: "ticks" }, picture);
  const whiskers = make("g", { class: "noise" }, picture);
  const stems = make("g", { class: "stems" }, picture);
  const labels = make("g", { class: "labels" }, picture);
  const marks = make("g", { class: "queries" }, picture);
  let [low, high] = [0, 1];
  const y = (/** @type {number} */ z) => SIZE - BOTTOM - ((z - low) / (high - low)) * (SIZE - TOP - BOTTOM);
  const x = (/** @type {number} */ i, /** @type {number} */ n) => LEFT + ((i + 0.5) / n) * (SIZE - LEFT - RIGHT);

  /** Set logit i of head h. @param {number} h @param {number} i @param {number} z */
  const bring = (h, i, z) => {
    const s = store.get();
    const key = s.keys[i];
    const now = s.scale * s.sharpness * dot(key, s.directions[h]);
    const step = (z - now) / (s.scale * (s.sharpness || 1) * dot(key, key));
    const rows = s.directions.slice();
    rows[h] = rows[h].map((u, j) => Math.round((u + step * key[j]) * 1e4) / 1e4);
    store.change({ directions: rows });
  };

  /** @param {number} index */
  const handle = (index) => {
    const n = store.get().keys.length;
    const [h, i] = [Math.floor(index / n), index % n];
    const group = make("g", { class: `handle query head-${h + 1}`, tabindex: 0, role: "button", "aria-roledescription": "movable logit" });
    make("circle", { class: "hit", r: 15 }, group);
    make("circle", { class: "ring", r: 10 }, group);
    make("circle", { class: "mark", r: 5.5 }, group);
    const now = () => store.get().scale * store.get().sharpness * dot(store.get().keys[i], store.get().directions[h]);
    draggable(group, picture, {
      place: (_, py) => bring(h, i, low + ((SIZE - BOTTOM - py) / (SIZE - TOP - BOTTOM)) * (high - low)),
      move: (dx, dy) => bring(h, i, now() + (dx + dy) * 2),
      drop: () => store.commit(),
    });
    return group;
  };
  let built = "";

  return {
    picture,
    /** @param {Model} model */
    fit({ state, queries }) {
      // A whisker is one standard deviation long on each side, and belongs to the picture.
      const { means, variances } = logitsLaw(queries, state.keys, state);
      const spread = variances.flat().map(Math.sqrt);
      const all = means.flat();
      const bottom = Math.min(0, ...all.map((z, i) => z - spread[i]));
      const top = Math.max(1, ...all.map((z, i) => z + spread[i]));
      [low, high] = [bottom - 0.08 * (top - bottom), top + 0.08 * (top - bottom)];
    },
    /** @param {Model} model */
    draw({ state, queries, logits, mixed, settled }) {
      const [n, h] = [state.keys.length, logits.length];
      if (built !== `${n}/${h}`) marks.replaceChildren();
      built = `${n}/${h}`;
      const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4].find((t) => (high - low) / t < 7) ?? 1e5;
      const first = Math.ceil(low / step);
      const count = Math.floor(high / step) - first + 1;
      join(ticks, count, () => {
        const tick = make("g");
        make("line", { x1: LEFT, x2: SIZE - RIGHT }, tick);
        make("text", { x: LEFT - 6, dy: 3.5, "text-anchor": "end" }, tick);
        return tick;
      }).forEach((tick, t) => {
        const z = (first + t) * step;
        set(tick, { transform: `translate(0 ${y(z).toFixed(1)})`, class: z === 0 ? "zero" : "" });
        tick.children[1].textContent = short(Math.round(z * 10) / 10);
      });
      const { variances } = logitsLaw(queries, state.keys, state);
      const offset = (/** @type {number} */ head) => (head - (h - 1) / 2) * Math.min(9, 180 / n / h);
      /** @type {[number, number][]} */
      const cells = Array.from({ length: n * h }, (_, index) => [Math.floor(index / n), index % n]);
      join(stems, n * h, () => make("line", {})).forEach((line, index) => {
        const [head, i] = cells[index];
        const at = x(i, n) + offset(head);
        const ends = { x1: at, x2: at, y1: y(0), y2: y(logits[head][i]) };
        set(line, { class: `head-${head + 1}`, ...ends, "stroke-opacity": 0.25 + 0.75 * mixed[i] });
      });
      const noisy = cells.filter(([head, i]) => variances[head][i] > 0);
      join(whiskers, noisy.length, () => make("line", {})).forEach((line, index) => {
        const [head, i] = noisy[index];
        const [at, s] = [x(i, n) + offset(head), Math.sqrt(variances[head][i])];
        set(line, { x1: at, x2: at, y1: y(logits[head][i] - s), y2: y(logits[head][i] + s) });
      });
      join(marks, n * h, handle).forEach((group, index) => {
        const [head, i] = cells[index];
        set(group, { transform: `translate(${(x(i, n) + offset(head)).toFixed(1)} ${y(logits[head][i]).toFixed(1)})` });
        if (settled) set(group, { "aria-label": `logit of key ${state.names[i]} in head ${head + 1}: ${fixed(logits[head][i], 2)}` });
      });
      join(labels, n, () => make("text", { class: "label", y: SIZE - 10, "text-anchor": "middle" })).forEach((label, i) => {
        set(label, { x: x(i, n) });
        subscript(label, n > 12 ? "" : "k", n > 24 && i % 5 ? "" : state.names[i]);
      });
    },
  };
}
