/**
 * The engine's exact mean and covariance beside the browser's samples. Asked after the finger rests; an answer for
 * a state that has passed is dropped.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").Moments} Moments
 */
import { ask, hasEngine, REASON } from "../engine.js";
import { element } from "../drawing/draw.js";
import { fixed, short } from "../numbers.js";

const REST = 140; // ms without a change
const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Mean and standard deviation of the sampled outputs. @param {Model} model */
export function sampled({ cloud }) {
  if (!cloud) return null;
  const mean = [0, 0];
  const square = [0, 0];
  for (let s = 0; s < cloud.samples; s++) {
    for (const j of [0, 1]) {
      mean[j] += cloud.outputs[2 * s + j] / cloud.samples;
      square[j] += cloud.outputs[2 * s + j] ** 2 / cloud.samples;
    }
  }
  const weight = cloud.mixed.reduce((sum, w) => sum + w, 0) / cloud.samples;
  return { mean, spread: mean.map((m, j) => Math.sqrt(Math.max(square[j] - m * m, 0))), weight };
}

/** @param {Model} model */
export function question({ state, queries }) {
  const { keys, values, isotropic, radial, scale, mix } = state;
  return { queries, keys, values, isotropic, radial, scale, mix };
}

/** @param {(moments: Moments | null, single: Moments | null) => void} show */
export function createExact(show) {
  let timer = 0;
  let control = new AbortController();

  /** @param {Model} model */
  const fetchNow = async (model) => {
    control = new AbortController();
    const { signal } = control;
    try {
      const answers = await Promise.all([
        ask("moments", question(model), signal),
        model.single ? ask("moments", question(model.single), signal) : null,
      ]);
      if (signal.aborted) return;
      show(answers[0], answers[1]);
      table(model, answers[0]);
      find("exact-status").textContent = answers[0].status === "done" ? "" : answers[0].message ?? answers[0].status;
    } catch (reason) {
      if (signal.aborted) return;
      table(model, null);
      find("exact-status").textContent = String(/** @type {Error} */ (reason).message);
    }
  };

  return {
    /** @param {Model} model */
    update(model) {
      clearTimeout(timer);
      control.abort();
      show(null, null);
      const noisy = model.cloud !== null;
      find("exact-hint").textContent = noisy
        ? `${model.cloud?.samples} draws by the browser. ${hasEngine() ? "The exact integral comes from Python (dashed ellipse: two standard deviations)." : REASON}`
        : "Without noise the output is one point. Add noise to the keys, or a random length to one of them.";
      if (!noisy) {
        find("exact-table").replaceChildren();
        find("exact-status").textContent = "";
      } else if (hasEngine()) timer = window.setTimeout(() => void fetchNow(model), REST);
      else table(model, null);
    },
  };
}

/** @param {Model} model @param {Moments | null} exact */
function table(model, exact) {
  const seen = sampled(model);
  if (!seen) return;
  const { names, focus } = model.state;
  const number = (/** @type {number | undefined} */ x) => (x === undefined ? "–" : fixed(x, 4));
  const root = (/** @type {number | undefined} */ x) => (x === undefined ? undefined : Math.sqrt(Math.max(x, 0)));
  /** @type {[string, string, string][]} */
  const rows = [
    ["mean of c, across", number(exact?.mean[0]), number(seen.mean[0])],
    ["mean of c, up", number(exact?.mean[1]), number(seen.mean[1])],
    ["spread of c, across", number(root(exact?.covariance[0][0])), number(seen.spread[0])],
    ["spread of c, up", number(root(exact?.covariance[1]?.[1])), number(seen.spread[1])],
    [`mean weight of ${names[focus]}`, number(exact?.weights_mean[focus]), number(seen.weight)],
    ["accurate to", exact ? short(Number(Number(exact.error).toPrecision(1))) : "–", `± ${fixed(1 / Math.sqrt(model.state.samples), 2)}`],
  ];
  const head = element("tr");
  for (const word of ["quantity", "exact", "sampled"]) head.append(Object.assign(element("th", word), { scope: "col" }));
  const body = rows.map(([name, ...cells]) => {
    const row = element("tr");
    row.append(Object.assign(element("th", name), { scope: "row" }), ...cells.map((cell) => element("td", cell)));
    return row;
  });
  find("exact-table").replaceChildren(head, ...body);
}
