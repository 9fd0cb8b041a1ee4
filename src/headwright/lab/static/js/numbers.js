/** Numbers as people read them: every number on the pages goes through one of these, and none shows a minus before zero. */

/** So many decimals. @param {number} x @param {number} digits */
export const fixed = (x, digits) => (Number(x.toFixed(digits)) || 0).toFixed(digits);

/** Three significant digits: 0.0408, 12.5, 1e-6. @param {number} x */
export function short(x) {
  const size = Math.abs(x);
  if (size === 0) return "0";
  const plain = size >= 1e-4 && size < 1e5;
  return plain ? String(Number(x.toPrecision(3))) : x.toExponential(1).replace(".0e", "e").replace("e+", "e");
}

/** @param {number} x @param {number} digits */
export const percent = (x, digits) => `${fixed(100 * x, digits)}%`;

/** (0.25, -1.00) @param {number[]} x @param {number} digits */
export const point = (x, digits) => `(${x.map((coordinate) => fixed(coordinate, digits)).join(", ")})`;
