/**
 * The state and its short form, the URL hash. One language for links, stations and the address bar:
 *   #preset=ten&q=a+b&beta=6&radial=a:0.5&seed=3
 * Only what differs from the preset is written. Rows are separated by ";", numbers by ","; a query is written as a sum
 * of keys ("a+b", "0.5a-2c") where it is one, or in numbers.
 * @typedef {import("../types.js").State} State
 * @typedef {import("../types.js").Matrix} Matrix
 * @typedef {{[name: string]: State}} Presets
 */
import { dot, equal } from "../maths/attention.js";
import { LIMITS } from "./limits.js";

/** Bad input, in the words of headwright.errors. */
export class InputError extends Error {
  /** @param {string} wanted @param {string} got @param {string} attempt */
  constructor(wanted, got, attempt) {
    super(`wanted ${wanted}; got ${got}; try: ${attempt}`);
    this.name = "InputError";
  }
}

/** a, b, ..., z, k26, k27, ... @param {number} n @returns {string[]} */
export function letters(n) {
  return Array.from({ length: n }, (_, i) => (i < 26 ? String.fromCharCode(97 + i) : `k${i}`));
}

/** @param {string} text @param {string} name */
function number(text, name, low = -LIMITS.size, high = LIMITS.size) {
  const x = text.trim() === "" ? NaN : Number(text);
  if (!(x >= low && x <= high)) {
    throw new InputError(`${name} between ${low} and ${high}`, text.slice(0, 30) || "nothing", `${name}=${low > 0 ? low : 1}`);
  }
  return x;
}

/** @param {string} text @param {string} name @returns {Matrix} */
function matrix(text, name) {
  const rows = text.split(";").map((row) => row.split(",").map((cell) => number(cell, name)));
  return rectangular(rows, name);
}

/** @param {Matrix} rows @param {string} name @returns {Matrix} */
export function rectangular(rows, name) {
  if (rows.length === 0 || rows.some((row) => row.length !== rows[0].length || row.length === 0)) {
    throw new InputError(`${name} as rows of one length`, "ragged or empty rows", "1,0;0,1");
  }
  return rows;
}

/** "a+b;a-b" or rows of numbers. @param {string} text @param {string[]} names @param {Matrix} keys @returns {Matrix} */
function directions(text, names, keys) {
  if (!/[a-z]/.test(text.replace(/\de[-+]?\d/g, ""))) return matrix(text, "q");
  return text.split(";").map((sum) => {
    const terms = [...sum.replace(/\s/g, "").matchAll(/([+-]?)(\d*\.?\d*(?:e-?\d+)?)\*?([a-z]\d*)/gy)];
    if (terms.map((t) => t[0]).join("") !== sum.replace(/\s/g, "")) {
      throw new InputError("a query as numbers or a sum of keys", sum.slice(0, 40), "q=a+b");
    }
    return keys[0].map((_, axis) =>
      terms.reduce((total, [, sign, factor, name]) => {
        const i = indexOf(name, names);
        return total + (sign === "-" ? -1 : 1) * (factor === "" ? 1 : Number(factor)) * keys[i][axis];
      }, 0),
    );
  });
}

/** @param {string} name @param {string[]} names */
function indexOf(name, names) {
  const i = names.indexOf(name);
  if (i < 0) throw new InputError(`a key among ${names.join(" ")}`, name, names[0]);
  return i;
}

/** "a:0.5,b:0.5" @param {string} text @param {string[]} names */
function perKey(text, names) {
  const out = names.map(() => 0);
  for (const part of text.split(",").filter(Boolean)) {
    const [name, value] = part.split(":");
    out[indexOf(name, names)] = number(value ?? "", "radial", 0, 100);
  }
  return out;
}

/** The usual factor on the scores, as the address and the command line write it. */
const ROOT = "1/sqrt(d)";
const root = (/** @type {Matrix} */ keys) => 1 / Math.sqrt(keys[0].length);

/** How each field is read; the order matters: keys before what refers to them.
 * @type {[string, (text: string, s: State) => Partial<State>][]} */
const READ = [
  ["k", (t) => ({ keys: matrix(t, "k"), names: letters(t.split(";").length) })],
  ["v", (t) => ({ values: matrix(t, "v") })],
  ["names", (t) => ({ names: t.split(",") })],
  ["q", (t, s) => ({ directions: directions(t, s.names, s.keys) })],
  ["mix", (t) => ({ mix: t.split(",").map((cell) => number(cell, "mix", 0, 1)) })],
  ["beta", (t) => ({ sharpness: number(t, "beta", 0, LIMITS.sharpness) })],
  ["scale", (t, s) => ({ scale: t === ROOT ? root(s.keys) : number(t, "scale", 1e-6, 1e6) })],
  ["noise", (t) => ({ isotropic: number(t, "noise", 0, 100) })],
  ["radial", (t, s) => ({ radial: perKey(t, s.names) })],
  ["seed", (t) => ({ seed: Math.round(number(t, "seed", 0, 2 ** 31)) })],
  ["samples", (t) => ({ samples: Math.round(number(t, "samples", 0, LIMITS.samples)) })],
  ["focus", (t, s) => ({ focus: indexOf(t, s.names) })],
  ["compare", (t) => ({ compare: t === "1" })],
  ["station", (t) => ({ station: Math.round(number(t, "station", 0, 99)) })],
];

/** @param {string} hash @param {Presets} presets @returns {State} */
export function fromHash(hash, presets) {
  // "+" is a sum of keys here, not a space.
  const given = new URLSearchParams(hash.replace(/^#/, "").replace(/\+/g, "%2B"));
  const name = given.get("preset") ?? Object.keys(presets)[0];
  const preset = Object.hasOwn(presets, name) ? presets[name] : null;
  if (!preset) {
    const known = Object.keys(presets);
    throw new InputError(`a preset among ${known.join(", ")}`, name.slice(0, 40), `#preset=${known[0]}`);
  }
  let state = { ...preset, preset: name };
  for (const [field, read] of READ) {
    const text = given.get(field);
    if (text !== null) state = { ...state, ...read(text, state) };
  }
  if (given.has("q") && !given.has("mix")) state.mix = equal(state.directions.length);
  if (given.has("k") && !given.has("radial")) state.radial = state.keys.map(() => 0);
  if (state.focus >= state.keys.length) state.focus = 0;
  return valid(state);
}

/** @param {State} s @returns {State} */
export function valid(s) {
  const [n, d] = [s.keys.length, s.keys[0].length];
  /** @type {[boolean, string, string, string][]} */
  const faults = [
    [n > LIMITS.keys, `at most ${LIMITS.keys} keys`, `${n}`, "fewer rows"],
    [d < 2 || d > LIMITS.dimension, `keys of 2 to ${LIMITS.dimension} coordinates`, `${d}`, "pad or project the keys"],
    [s.values.length !== n, `${n} values, one per key`, `${s.values.length}`, "as many rows in V as in K"],
    [s.names.length !== n || new Set(s.names).size !== n, `${n} different names`, s.names.join(","), "leave names out"],
    [s.directions.length > LIMITS.heads, `at most ${LIMITS.heads} heads`, `${s.directions.length}`, "fewer rows in q"],
    [s.mix.length !== s.directions.length, `${s.directions.length} shares, one per head`, `${s.mix.length}`, "leave mix out"],
    [s.directions.some((u) => u.length !== d), `queries of ${d} coordinates, like the keys`, `${s.directions[0].length}`, "the same number of columns in q and K"],
  ];
  for (const [bad, ...words] of faults) if (bad) throw new InputError(...words);
  return s;
}

/** @param {Matrix} rows */
const rows = (rows) => rows.map((row) => row.join(",")).join(";");

/** The short form. @param {State} s @param {Presets} presets @returns {string} */
export function toHash(s, presets) {
  const base = presets[s.preset];
  /** @type {[string, string, string][]} field, now, as in the preset */
  const fields = [
    ["k", rows(s.keys), rows(base.keys)],
    ["v", rows(s.values), rows(base.values)],
    ["names", s.names.join(","), (s.keys.length === base.keys.length ? base.names : letters(s.keys.length)).join(",")],
    ["q", queries(s), rows(s.directions) === rows(base.directions) ? queries(s) : ""],
    ["mix", `${s.mix}`, `${equal(s.directions.length)}`],
    ["beta", `${s.sharpness}`, `${base.sharpness}`],
    ["scale", s.scale === root(s.keys) ? ROOT : `${s.scale}`, base.scale === root(base.keys) ? ROOT : `${base.scale}`],
    ["noise", `${s.isotropic}`, `${base.isotropic}`],
    ["radial", named(s), rows(s.keys) === rows(base.keys) ? named(base) : ""],
    ["seed", `${s.seed}`, `${base.seed}`],
    ["samples", `${s.samples}`, `${base.samples}`],
    ["focus", s.names[s.focus], base.names[base.focus]],
    ["compare", s.compare ? "1" : "0", base.compare ? "1" : "0"],
    ["station", `${s.station}`, `${base.station}`],
  ];
  const changed = fields.filter(([, now, before]) => now !== before).map(([field, now]) => `${field}=${now}`);
  return ["#preset=" + s.preset, ...changed].join("&");
}

/** Every head as a sum of keys, or all of them as rows of numbers. @param {State} s */
function queries(s) {
  const sums = s.directions.map((u) => sumOfKeys(u, s));
  return sums.some((sum) => sum === null) ? rows(s.directions) : sums.join(";");
}

const LETTER = /^[a-z]\d*$/; // a name that sums are written with

/** "a+0.5b" if that is read back as exactly this direction. @param {number[]} u @param {State} s */
function sumOfKeys(u, { names, keys }) {
  const shares = keys.map((k) => Number((dot(u, k) / (dot(k, k) || 1)).toFixed(4)));
  const most = shares.reduce((best, x, i) => (Math.abs(x) > Math.abs(shares[best]) ? i : best), 0);
  const all = terms(shares, names);
  const one = terms(shares.map((x, i) => (i === most ? x : 0)), names);
  const same = (/** @type {string} */ sum) => sum !== "" && directions(sum, names, keys)[0].every((x, j) => x === u[j]);
  return names.every((name) => LETTER.test(name)) ? [one, all].find(same) ?? null : null;
}

/** @param {number[]} shares @param {string[]} names */
function terms(shares, names) {
  const parts = shares.map((x, i) => {
    if (!x) return "";
    const size = Math.abs(x) === 1 ? "" : Math.abs(x);
    return `${x < 0 ? "-" : "+"}${size}${names[i]}`;
  });
  return parts.join("").replace(/^\+/, "");
}

/** @param {State} s */
function named(s) {
  return s.radial.map((r, i) => (r > 0 ? `${s.names[i]}:${r}` : "")).filter(Boolean).join(",");
}
