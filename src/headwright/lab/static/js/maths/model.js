/**
 * From a state to everything drawn in one frame.
 * @typedef {import("../types.js").State} State
 * @typedef {import("../types.js").Model} Model
 */
import { multihead } from "./attention.js";
import { cloud } from "./cloud.js";

/** @param {State} state @param {boolean} settled @returns {Model} */
export function derive(state, settled = true) {
  const queries = state.directions.map((u) => u.map((x) => x * state.sharpness));
  const seen = multihead(queries, state.keys, state.values, state);
  return { state, queries, ...seen, settled, cloud: cloud(state, queries), single: alone(state) };
}

/** The same keys seen by one head that asks for everything at once. @param {State} state @returns {Model | null} */
function alone(state) {
  if (!state.compare || state.directions.length < 2) return null;
  const sum = state.directions[0].map((_, j) => state.directions.reduce((t, u) => t + u[j], 0));
  return derive({ ...state, directions: [sum], mix: [1], compare: false });
}
