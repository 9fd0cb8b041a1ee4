/** The normal distribution function, for the one number of the opening. */

// Terms of the series; for |x| <= 3 the ninetieth is below 1e-30.
const TERMS = 90;

/** P(g <= x) for g ~ N(0, 1): 1/2 + density(x) (x + x^3/3 + x^5/(3 5) + ...). @param {number} x at most 3 in size */
export function normalCdf(x) {
  let term = x;
  let sum = x;
  for (let k = 1; k < TERMS; k++) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
