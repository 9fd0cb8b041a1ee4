/**
 * The law of the logits of noisy keys, the twin of GaussianKeys.logits_law:
 *   Sigma_i = a I + rho_i mu_i mu_i',  z_hi = scale * (k_i . q_h)
 * Seen through the heads, a key of any dimension is at most h + 1 normal numbers: one for its length and one
 * for each coordinate of the queries' span. That is why the cloud costs the same for d = 2 and d = 64.
 * @typedef {import("../types.js").Vector} Vector
 * @typedef {import("../types.js").Matrix} Matrix
 * @typedef {{isotropic: number, radial: Vector, scale: number}} Noise
 */
import { dot, logits } from "./attention.js";

/** Means and variances, h x n. @param {Matrix} queries @param {Matrix} keys @param {Noise} noise */
export function logitsLaw(queries, keys, { isotropic, radial, scale }) {
  const means = queries.map((query) => logits(query, keys, scale));
  const variances = queries.map((query, h) =>
    keys.map((_, i) => scale * scale * isotropic * dot(query, query) + radial[i] * means[h][i] ** 2),
  );
  return { means, variances };
}

/** Rows L with L L' = Q Q', at most min(h, d) columns wide: Gram-Schmidt on the queries.
 * @param {Matrix} queries @returns {Matrix} */
export function gramFactor(queries) {
  /** @type {Matrix} */
  const basis = [];
  /** @type {Matrix} */
  const rows = [];
  for (const query of queries) {
    let rest = query.slice();
    const row = basis.map((b) => {
      const along = dot(rest, b);
      rest = rest.map((x, j) => x - along * b[j]);
      return along;
    });
    const length = Math.sqrt(dot(rest, rest));
    if (length > 1e-12 * Math.sqrt(dot(query, query))) {
      basis.push(rest.map((x) => x / length));
      row.push(length);
    }
    rows.push(row);
  }
  return rows.map((row) => [...row, ...Array(basis.length - row.length).fill(0)]);
}
