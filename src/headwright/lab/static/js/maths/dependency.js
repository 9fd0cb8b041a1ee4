/**
 * What depends on what: one token (its key and its value) is left out, and how far each output moves.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").Vector} Vector
 * @typedef {import("../types.js").Matrix} Matrix
 */
import { output, weights } from "./attention.js";

const EPSILON = 2 ** -52;

/** Rows: every head's output, then their mix where there are several. Columns: tokens.
 * @param {Model} model @returns {{moves: Matrix, depends: boolean[][]}} */
export function dependency({ state, logits, outputs, output: mixed }) {
  const { values, mix } = state;
  const without = values.map((_, j) => outputs.map((own, h) => leftOut(logits[h], values, j) ?? own));
  const heads = outputs.map((own, h) => without.map((seen) => distance(own, seen[h])));
  const all = without.map((seen) => distance(mixed, output(mix, seen)));
  const moves = outputs.length > 1 ? [...heads, all] : heads;
  // Sums of n terms of this size are not known any better.
  const rounding = 2 * EPSILON * values.length * Math.max(...values.flat().map(Math.abs));
  return { moves, depends: moves.map((row) => row.map((far) => far > rounding || values.length === 1)) };
}

/** The output of a head on all tokens but j; none where j is alone. @param {Vector} z @param {Matrix} values @param {number} j */
function leftOut(z, values, j) {
  if (z.length === 1) return null;
  const rest = (/** @type {unknown} */ _, /** @type {number} */ i) => i !== j;
  return output(weights(z.filter(rest)), values.filter(rest));
}

/** @param {Vector} a @param {Vector} b */
function distance(a, b) {
  return Math.hypot(...a.map((x, axis) => x - b[axis]));
}
