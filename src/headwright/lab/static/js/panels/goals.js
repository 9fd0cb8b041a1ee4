/**
 * What a station can ask for, as numbers of the model. A goal is a list of conditions on them, written in
 * stations.toml.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").Goal} Goal
 */
import { dot } from "../maths/attention.js";
import { percent, short } from "../numbers.js";

/** @param {ArrayLike<number>} xs @param {(x: number) => boolean} holds */
function share(xs, holds) {
  let count = 0;
  for (let i = 0; i < xs.length; i++) if (holds(xs[i])) count++;
  return xs.length ? count / xs.length : NaN;
}

/** @param {number[]} a @param {number[]} b */
const distance = (a, b) => Math.hypot(...a.map((x, j) => x - b[j]));

/** @param {Model} model @param {string | undefined} name */
const at = (model, name) => model.state.names.indexOf(name ?? "a");

/** @type {{[measure: string]: (model: Model, goal: Goal, start: Model) => number}} */
export const MEASURES = {
  weight: (m, g) => (g.head ? m.weights[g.head - 1]?.[at(m, g.key)] : m.mixed[at(m, g.key)]) ?? NaN,
  /** distance of c from (v_a + v_b) / 2 */
  miss: (m) => distance(m.output, m.state.values[0].map((x, j) => (x + m.state.values[1][j]) / 2)),
  heads: (m) => m.state.directions.length,
  sharpness: (m) => m.state.sharpness,
  noise: (m) => m.state.isotropic,
  radial: (m, g) => m.state.radial[at(m, g.key)],
  scale: (m) => m.state.scale,
  /** share of the draws in which the head has not decided */
  undecided: (m) => share(m.cloud?.mixed ?? [], (w) => w > 0.1 && w < 0.9),
  /** share of the draws that hold the average */
  holding: (m) => share(m.cloud?.mixed ?? [], (w) => Math.abs(w - 0.5) < 0.05),
  /** mean squared error of the mixed weights */
  error: (m) => (m.cloud ? m.cloud.errors.reduce((sum, x) => sum + x, 0) / m.cloud.samples : NaN),
  /** how far apart the first two heads are */
  apart: (m) => (m.state.directions.length > 1 ? distance(m.state.directions[0], m.state.directions[1]) : NaN),
  /** length of a key over the longest of the others */
  longest: (m, g) => {
    const size = m.state.keys.map((k) => Math.sqrt(dot(k, k)));
    const i = at(m, g.key);
    return size[i] / Math.max(...size.filter((_, j) => j !== i));
  },
  /** norm of the projector onto span(v_a) along span(v_b): 1 / sin of the angle between them */
  amplification: (m) => {
    const [a, b] = m.state.values;
    return (Math.hypot(...a) * Math.hypot(...b)) / Math.abs(a[0] * b[1] - a[1] * b[0]);
  },
  /** 1 when the rows stand in another order */
  shuffled: (m) => (m.state.names.some((name, i) => name !== [...m.state.names].sort()[i]) ? 1 : 0),
  /** how far the output is from where the station started */
  moved: (m, _, start) => distance(m.output, start.output),
};

/** How each measure is called beside the goal; what is not named is not worth a number.
 * @type {{[measure: string]: (goal: Goal) => string}} */
const WORDS = {
  weight: (g) => `weight of ${g.key}`,
  miss: () => "distance from the midpoint",
  undecided: () => "undecided",
  holding: () => "holding",
  error: () => "error",
  apart: () => "distance of the heads",
  amplification: () => "amplification",
  moved: () => "output moved by",
};
const SHARES = new Set(["undecided", "holding"]);

/** Where the state stands: "now: weight of a 0.43". @param {Model} model @param {Goal[]} conditions @param {Model} start */
export function standing(model, conditions, start) {
  const parts = conditions.filter((goal) => goal.measure in WORDS).map((goal) => {
    const x = MEASURES[goal.measure](model, goal, start);
    const number = Number.isNaN(x) ? "–" : SHARES.has(goal.measure) ? percent(x, 1) : short(x);
    return `${WORDS[goal.measure](goal)} ${number}`;
  });
  return parts.length ? `now: ${parts.join(", ")}` : "";
}

/** @param {Model} model @param {Goal[]} conditions @param {Model} start */
export function reached(model, conditions, start) {
  return conditions.every((goal) => {
    const x = MEASURES[goal.measure](model, goal, start);
    return x > (goal.above ?? -Infinity) && x < (goal.below ?? Infinity);
  });
}
