/**
 * What the page can show. The numbers are Python's (headwright/lab/limits.py) and come with data/site.json, so that
 * links, pasted data and notebooks are held to the same ones.
 * @typedef {{keys: number, dimension: number, heads: number, samples: number, sharpness: number, size: number}} Limits
 */

/** @type {Limits} */
export let LIMITS;

/** @param {Limits} limits */
export function setLimits(limits) {
  LIMITS = limits;
}
