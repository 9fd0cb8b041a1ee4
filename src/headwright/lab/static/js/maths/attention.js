/**
 * Forward attention in the browser, the twin of headwright.attention: what must follow the finger is
 * computed here, every result comes from Python. Tests hold the two together to 1e-12.
 * @typedef {import("../types.js").Vector} Vector
 * @typedef {import("../types.js").Matrix} Matrix
 */

/** @param {Vector} a @param {Vector} b */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** z = scale * K q. @param {Vector} query @param {Matrix} keys @param {number} scale @returns {Vector} */
export function logits(query, keys, scale = 1) {
  return keys.map((key) => scale * dot(key, query));
}

/** Softmax; the largest logit becomes e^0, so nothing overflows. @param {Vector} z @returns {Vector} */
export function weights(z) {
  const top = Math.max(...z);
  const e = z.map((x) => Math.exp(x - top));
  const total = e.reduce((sum, x) => sum + x, 0);
  return e.map((x) => x / total);
}

/** c = sum_i alpha_i v_i. @param {Vector} alpha @param {Matrix} values @returns {Vector} */
export function output(alpha, values) {
  return values[0].map((_, j) => alpha.reduce((sum, a, i) => sum + a * values[i][j], 0));
}

/** Equal shares. @param {number} h @returns {Vector} */
export const equal = (h) => Array(h).fill(1 / h);

/** Several heads on the same keys, mixed by shares.
 * @param {Matrix} queries @param {Matrix} keys @param {Matrix} values @param {{scale: number, mix: Vector}} how */
export function multihead(queries, keys, values, { scale, mix }) {
  const z = queries.map((query) => logits(query, keys, scale));
  const alpha = z.map(weights);
  const outputs = alpha.map((row) => output(row, values));
  return { logits: z, weights: alpha, outputs, mixed: output(mix, alpha), output: output(mix, outputs) };
}
