/**
 * The sampled cloud. The normal numbers depend on seed and sizes only, so they are drawn once and kept; a drag
 * then costs s * n * h exponentials, which fits in a frame.
 * @typedef {import("../types.js").State} State
 * @typedef {import("../types.js").Matrix} Matrix
 * @typedef {import("../types.js").Cloud} Cloud
 */
import { gramFactor, logitsLaw } from "./law.js";
import { normals } from "./random.js";

// e^x for -40 <= x <= 0: a table of e^{-j/64} times the Taylor series of the rest (at most 1/64), to 1e-13, at
// half the cost of Math.exp. Below e^-40 a weight is rounded away beside the largest one.
const [DEEP, STEPS] = [40, 64];
const powers = Float64Array.from({ length: DEEP * STEPS + 1 }, (_, j) => Math.exp(-j / STEPS));

/** @param {number} x at most 0 */
function exp(x) {
  if (x < -DEEP) return 0;
  const j = (-x * STEPS) | 0;
  const r = x + j / STEPS;
  return powers[j] * (1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r / 120)))));
}

/** @type {Map<string, Float64Array>} */
const drawn = new Map();

/** @param {number} seed @param {number} count */
function kept(seed, count) {
  const name = `${seed}/${count}`;
  const found = drawn.get(name);
  if (found) return found;
  if (drawn.size > 4) drawn.clear();
  const fresh = normals(seed, count);
  drawn.set(name, fresh);
  return fresh;
}

/** The weights asked for: equal shares on the first two keys, the exercise's target. @param {number} n */
export function target(n) {
  return Array.from({ length: n }, (_, i) => (i < 2 ? 1 / Math.min(n, 2) : 0));
}

/** @param {State} state @param {Matrix} queries @returns {Cloud | null} null when nothing is random */
export function cloud(state, queries) {
  const noisy = state.isotropic > 0 || state.radial.some((r) => r > 0);
  if (!noisy || state.samples < 1) return null;
  const { keys, values, mix, scale, isotropic, samples, focus } = state;
  const [n, h] = [keys.length, queries.length];
  const { means } = logitsLaw(queries, keys, state);
  const L = isotropic > 0 ? gramFactor(queries) : queries.map(() => []);
  const rank = L[0].length;
  const width = 1 + rank;
  const g = kept(state.seed, samples * n * width);
  const spread = scale * Math.sqrt(isotropic);
  // z_i = m_i + m_i sqrt(rho_i) g_0 + scale sqrt(a) (L g)_h: three rows of coefficients per head.
  const terms = means.map((m, head) => [
    Float64Array.from(m),
    Float64Array.from(m, (x, i) => x * Math.sqrt(state.radial[i])),
    Float64Array.from(L[head], (x) => x * spread),
  ]);
  const wanted = target(n);
  const x = Float64Array.from(values, (v) => v[0]);
  const y = Float64Array.from(values, (v) => v[1] ?? 0);
  const out = {
    samples,
    outputs: new Float64Array(2 * samples),
    focus: new Float64Array(h * samples),
    mixed: new Float64Array(samples),
    errors: new Float64Array(samples),
  };
  const e = new Float64Array(n);
  const mixed = new Float64Array(n);
  for (let s = 0; s < samples; s++) {
    mixed.fill(0);
    for (let head = 0; head < h; head++) {
      const [m, slope, c] = terms[head];
      let top = -Infinity;
      for (let i = 0, at = s * n * width; i < n; i++, at += width) {
        let z = m[i] + slope[i] * g[at];
        if (rank === 1) z += c[0] * g[at + 1];
        else if (rank === 2) z += c[0] * g[at + 1] + c[1] * g[at + 2];
        else for (let r = 0; r < rank; r++) z += c[r] * g[at + 1 + r];
        e[i] = z;
        if (z > top) top = z;
      }
      let total = 0;
      for (let i = 0; i < n; i++) total += e[i] = exp(e[i] - top);
      const share = mix[head] / total;
      for (let i = 0; i < n; i++) mixed[i] += share * e[i];
      out.focus[head * samples + s] = e[focus] / total;
    }
    let [cx, cy, error] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      cx += mixed[i] * x[i];
      cy += mixed[i] * y[i];
      const off = mixed[i] - wanted[i];
      error += off * off;
    }
    out.outputs[2 * s] = cx;
    out.outputs[2 * s + 1] = cy;
    out.mixed[s] = mixed[focus];
    out.errors[s] = error;
  }
  return out;
}
