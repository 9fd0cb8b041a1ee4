/** A counterexample as a link to the plane, where its numbers allow one. */
import { LIMITS } from "./state.js";

/** @param {unknown} thing @returns {number[][] | null} */
function rows(thing) {
  if (!Array.isArray(thing) || thing.length === 0) return null;
  const matrix = Array.isArray(thing[0]) ? thing : [thing];
  const good = matrix.every((row) => Array.isArray(row) && row.length === matrix[0].length && row.every((x) => typeof x === "number"));
  return good && matrix[0].length > 0 ? matrix : null;
}

/** Values evenly on a circle, for counterexamples that name none. @param {number} n */
function circle(n) {
  return Array.from({ length: n }, (_, i) => [-Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)].map((x) => Number(x.toFixed(4))));
}

/** @param {{[name: string]: any}} example @returns {string | null} */
export function planeLink(example) {
  const keys = rows(example.keys ?? example.K ?? example.means ?? example.mu);
  const queries = rows(example.queries ?? example.Q ?? example.query ?? example.q);
  if (!keys || !queries || keys.length > LIMITS.keys || keys[0].length < 2 || keys[0].length > LIMITS.dimension) return null;
  if (queries.length > LIMITS.heads || queries[0].length !== keys[0].length) return null;
  const given = rows(example.values ?? example.V);
  const values = given && given.length === keys.length ? given : circle(keys.length);
  const length = Math.max(...queries.map((q) => Math.hypot(...q))) || 1;
  const sharpness = Math.min(length, LIMITS.sharpness);
  const text = (/** @type {number[][]} */ m) => m.map((row) => row.map((x) => Number(x.toPrecision(8))).join(",")).join(";");
  return `#preset=plane&k=${text(keys)}&v=${text(values)}&q=${text(queries.map((q) => q.map((x) => x / sharpness)))}&beta=${sharpness}`;
}
