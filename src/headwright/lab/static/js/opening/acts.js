/**
 * The opening in numbers: four acts on the keys of the presets, a few hundred draws of the length of key a, and what
 * the heads make of every one of them. Nothing here is written down that the page can compute.
 * @typedef {import("../types.js").State} State
 * @typedef {import("../state/state.js").Presets} Presets
 * @typedef {{length: number, outputs: number[][], output: number[]}} Draw
 * @typedef {Object} Act
 * @property {string} title
 * @property {string} words
 * @property {State} state
 * @property {Draw[]} draws
 * @property {Beat[]} beats
 * @property {number} rests  the draw that is left standing when all have been shown
 * @property {(shown: Draw[]) => string} said  what they say together
 * @typedef {[number, number]} Beat  milliseconds, and how many draws have been shown when they are over
 */
import { multihead } from "../maths/attention.js";
import { normalCdf } from "../maths/normal.js";
import { normals } from "../maths/random.js";
import { percent } from "../numbers.js";

export const DRAWS = 400;
const SHARP = 30;
// Chosen so that the story can be told: its first dozen lengths are positive, about half of them above 1, and the next
// is negative. Of all 400, as many are negative as should be.
const SEED = 1178;
const FIRST = 12; // draws shown one by one
const NEAR = 0.1; // from the middle: the average holds

/** A negative length: 1 + sqrt(rho) g < 0. @param {number} rho variance of the length */
export const backwards = (rho) => normalCdf(-1 / Math.sqrt(rho));

/** @param {Draw} draw */
export const holds = ({ output }) => Math.hypot(output[0], output[1]) < NEAR;

/** Key a in so many lengths, seen by the heads of a state. @param {State} state @returns {Draw[]} */
export function drawn(state) {
  const queries = state.directions.map((u) => u.map((x) => x * state.sharpness));
  const [first, ...others] = state.keys;
  return [...normals(SEED, DRAWS)].map((g) => {
    const length = 1 + Math.sqrt(state.radial[0]) * g;
    const keys = [first.map((x) => length * x), ...others];
    const { outputs, output } = multihead(queries, keys, state.values, state);
    return { length, outputs, output };
  });
}

/** One draw after the other. @type {Beat[]} */
const SLOW = Array.from({ length: FIRST }, (_, i) => [230, i + 1]);

/** @param {Presets} presets @returns {Act[]} */
export function acts({ coin, heads }) {
  const exact = { isotropic: 0, sharpness: SHARP };
  const one = { ...coin, ...exact };
  const two = { ...heads, ...exact };
  const others = coin.keys[0].map((_, axis) => -coin.keys.slice(2).reduce((sum, k) => sum + k[axis], 0));
  // As long a query as the others have
  const away = { ...coin, ...exact, directions: [others], sharpness: SHARP / Math.sqrt(coin.keys.length - 2) };

  const lengths = drawn(two);
  const turned = lengths.findIndex((draw) => draw.length < 0);
  /** Up to the first negative length, that one with time to look at it, then all. @type {Beat[]} */
  const turning = [[700, turned], [1300, turned + 1], [1200, DRAWS], [1500, DRAWS]];
  const never = percent(backwards(coin.radial[0]), 2);
  const count = (/** @type {Draw[]} */ shown) => shown.filter((draw) => !holds(draw)).length;
  const times = (/** @type {number} */ n) => (n === 1 ? "once" : `${n} times`);
  return [
    {
      title: "One head flips a coin",
      words: "A head should return c, the average of two values. But key a has a random length: when it is long, c becomes the value of a; when it is short, that of b.",
      state: one, draws: drawn(one), beats: [...SLOW, [1100, DRAWS], [1400, DRAWS]], rests: DRAWS - 1,
      said: (shown) => {
        const left = shown.filter(({ output }) => output[0] < 0).length;
        return `nearer to a ${times(left)}, nearer to b ${times(shown.length - left)}`;
      },
    },
    {
      title: "Two heads hold",
      words: "Head 1 asks for a alone, head 2 for b alone. Long or short, each finds its key, and the output c stays in the middle.",
      state: two, draws: lengths, beats: [...SLOW, [1500, FIRST]], rests: FIRST - 1,
      said: (shown) => `held in ${shown.length - count(shown)} of ${shown.length} draws`,
    },
    {
      title: `${never} of the time they do not`,
      words: "The length can be negative. Then key a points backwards, head 1 turns to all the other keys, and c leaves the middle.",
      state: two, draws: lengths, beats: turning, rests: turned,
      said: (shown) => `${shown.filter((draw) => draw.length < 0).length} of ${shown.length} draws; exactly P(length < 0) = ${never}`,
    },
    {
      title: "One head that looks away does",
      words: "It turns from every other key and looks along neither a nor b. No length can move it, and c stays in the middle in every draw.",
      state: away, draws: drawn(away), beats: turning, rests: turned,
      said: (shown) => `held in ${shown.length - count(shown)} of ${shown.length} draws`,
    },
  ];
}

/** Milliseconds of an act. @param {Act} act */
export const duration = (act) => act.beats.reduce((sum, [ms]) => sum + ms, 0);

/** How many draws have been shown at a time, with the part of the next one. @param {Act} act @param {number} time */
export function shownAt({ beats }, time) {
  let [before, rest] = [0, time];
  for (const [ms, after] of beats) {
    if (rest < ms) return before + (after - before) * (rest / ms);
    [before, rest] = [after, rest - ms];
  }
  return before;
}
