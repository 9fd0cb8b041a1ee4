/**
 * Keys, values and query pasted by the reader, as JSON or CSV. Text is parsed into numbers or refused; it never
 * becomes markup.
 * @typedef {import("../types.js").State} State
 */
import { equal } from "../maths/attention.js";
import { LIMITS } from "./limits.js";
import { InputError, letters, rectangular, valid } from "./state.js";

/** @param {unknown} thing @param {string} name @returns {number[][]} */
function matrix(thing, name) {
  const rows = Array.isArray(thing) ? (Array.isArray(thing[0]) ? thing : [thing]) : null;
  const good = rows?.every((row) => Array.isArray(row) && row.every((x) => typeof x === "number" && Math.abs(x) <= LIMITS.size));
  if (!rows || !good) {
    throw new InputError(`${name} as rows of numbers up to ${LIMITS.size}`, JSON.stringify(thing ?? null).slice(0, 40), "[[1, 0], [0, 1]]");
  }
  return rectangular(rows, name);
}

/** @param {string} text @returns {unknown[]} K, V, q */
function split(text) {
  if (text.trim().startsWith("{")) {
    try {
      const { K, V, q, Q } = JSON.parse(text);
      return [K, V, q ?? Q];
    } catch {
      throw new InputError("JSON", text.slice(0, 40), '{"K": [[1, 0], [0, 1]], "V": [[1, 0], [0, 1]], "q": [2, 1]}');
    }
  }
  return text.trim().split(/\r?\n\s*\r?\n/).map((block) =>
    block.trim().split(/\r?\n/).map((line) => line.split(/[,;\t]/).map((cell) => (cell.trim() === "" ? NaN : Number(cell)))),
  );
}

/** @param {string} text @param {State} state @returns {State} */
export function read(text, state) {
  const parts = split(text);
  if (parts.length < 2 || parts.length > 3) {
    throw new InputError("three blocks: K, V, q", `${parts.length}`, "separate them by an empty line");
  }
  const keys = matrix(parts[0], "K");
  const values = matrix(parts[1], "V");
  const directions = parts[2] === undefined ? [keys[0]] : matrix(parts[2], "q");
  return valid({
    ...state, keys, values, directions, mix: equal(directions.length), names: letters(keys.length), radial: keys.map(() => 0),
    sharpness: 1, scale: 1, isotropic: 0, focus: 0, compare: false, station: 0,
  });
}
