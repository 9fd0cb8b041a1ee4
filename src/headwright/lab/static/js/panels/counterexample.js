/**
 * A counterexample as a link to the plane. A verdict gives the scores of every head; on orthonormal keys the query
 * with coordinates equal to those scores has exactly them as logits, so the plane shows the very same weights.
 */
import { LIMITS } from "../state/limits.js";
import { letters } from "../state/state.js";

/** @param {unknown} thing @returns {number[][] | null} */
function rows(thing) {
  if (!Array.isArray(thing) || thing.length === 0) return null;
  const matrix = Array.isArray(thing[0]) ? thing : [thing];
  const good = matrix.every((row) => Array.isArray(row) && row.length === matrix[0].length && row.every((x) => Number.isFinite(x)));
  return good && matrix[0].length > 0 ? matrix : null;
}

/** Values evenly on a circle, the first two opposite each other. @param {number} n */
function circle(n) {
  const half = Math.floor(n / 2);
  const place = (/** @type {number} */ i) => (i === 0 ? 0 : i === 1 ? half : i <= half ? i - 1 : i);
  const angle = (/** @type {number} */ i) => Math.PI - (2 * Math.PI * place(i)) / n;
  return Array.from({ length: n }, (_, i) => [Math.cos(angle(i)), Math.sin(angle(i))].map((x) => Number(x.toFixed(4))));
}

/** @param {{[name: string]: unknown}} example @returns {string | null} */
export function planeLink(example) {
  const scores = rows(example.scores);
  if (!scores) return null;
  const n = scores[0].length;
  if (n < 2 || n > LIMITS.keys || scores.length > LIMITS.heads) return null;
  const given = Array.isArray(example.order) && example.order.length === n ? example.order.map(String) : letters(n);
  const names = given.every((name) => /^[a-z]\d*$/.test(name)) ? given : letters(n);
  // The keys that are asked for stand first, as everywhere in the lab.
  const first = (/** @type {number} */ i) => (names[i] === "a" ? 0 : names[i] === "b" ? 1 : 2);
  const order = names.map((_, i) => i).sort((i, j) => first(i) - first(j) || i - j);
  const sharpness = Math.min(Math.max(...scores.flat().map(Math.abs)) || 1, LIMITS.sharpness);
  const text = (/** @type {number[][]} */ m) => m.map((row) => row.join(",")).join(";");
  const fields = {
    k: text(order.map((_, i) => order.map((_, j) => (i === j ? 1 : 0)))),
    v: text(circle(n)),
    names: order.map((i) => names[i]).join(","),
    q: text(scores.map((row) => order.map((i) => row[i] / sharpness || 0))),
    beta: String(sharpness),
  };
  return `#preset=plane&${Object.entries(fields).map(([name, value]) => `${name}=${value}`).join("&")}`;
}
