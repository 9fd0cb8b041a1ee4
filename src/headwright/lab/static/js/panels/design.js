/**
 * The design panel: name a target and a leak, and the engine's query flies into place; or the proof that there is
 * none is drawn.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").State} State
 * @typedef {import("../state/store.js").Store} Store
 */
import { element } from "../drawing/draw.js";
import { ask, hasEngine } from "../engine.js";
import { short } from "../numbers.js";
import { LIMITS } from "../state/limits.js";

const FLIGHT = 480; // ms
const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const form = () => /** @type {HTMLFormElement} */ (find("design"));

/** @param {Store} store @param {(proof: {inside: number[], outside: number[]} | null) => void} prove */
export function createDesign(store, prove) {
  const chosen = new Set([0]);
  /** @type {Map<number, number>} */
  const shares = new Map();
  const kind = () => String(new FormData(form()).get("kind"));
  let built = "";

  const rebuild = () => {
    const { names } = store.get();
    const several = kind() !== "copy";
    if (!several && chosen.size > 1) for (const i of [...chosen].slice(1)) chosen.delete(i);
    if (several && chosen.size < 2) chosen.add(chosen.has(1) ? 0 : 1);
    for (const i of chosen) if (i >= names.length) chosen.delete(i);
    find("targets").replaceChildren(
      ...names.map((name, i) => {
        const label = element("label");
        const box = Object.assign(document.createElement("input"), {
          type: several ? "checkbox" : "radio",
          name: "target",
          checked: chosen.has(i),
        });
        box.addEventListener("change", () => {
          if (!several) chosen.clear();
          if (box.checked) chosen.add(i);
          else chosen.delete(i);
          rebuild();
        });
        const word = element("span", "v", "math value");
        word.append(element("sub", name));
        label.append(box, word);
        if (kind() === "mixture" && chosen.has(i)) label.append(shareOf(i, name));
        return label;
      }),
    );
  };

  /** @param {number} i @param {string} name */
  const shareOf = (i, name) => {
    const field = Object.assign(document.createElement("input"), {
      type: "number", min: "0.01", max: "1", step: "0.01", value: String(shares.get(i) ?? Number((1 / chosen.size).toFixed(2))),
    });
    field.setAttribute("aria-label", `share of ${name}`);
    field.addEventListener("input", () => shares.set(i, Number(field.value)));
    return field;
  };

  /** What is asked for, as the engine reads it. */
  const target = () => {
    const keys = [...chosen].sort((a, b) => a - b);
    if (kind() === "copy") return keys[0];
    if (kind() === "average") return keys;
    const raw = keys.map((i) => shares.get(i) ?? 1 / keys.length);
    const total = raw.reduce((sum, x) => sum + x, 0);
    return Object.fromEntries(keys.map((i, at) => [i, raw[at] / total]));
  };

  find("design-go").toggleAttribute("disabled", !hasEngine());
  form().addEventListener("change", (event) => {
    if (/** @type {HTMLInputElement} */ (event.target).name === "kind") rebuild();
  });
  form().addEventListener("submit", async (event) => {
    event.preventDefault();
    const state = store.get();
    const answer = find("design-answer");
    answer.replaceChildren(element("p", "…", "soft"));
    prove(null);
    const heads = /** @type {HTMLSelectElement} */ (find("design-heads")).value;
    const robust = /** @type {HTMLInputElement} */ (find("robust")).checked;
    const leak = Number(/** @type {HTMLSelectElement} */ (find("leak")).value);
    try {
      const made = await ask("design", {
        kind: kind(), target: target(), keys: state.keys, scale: state.scale, leak,
        heads: heads === "auto" ? "auto" : Number(heads),
        ...(robust ? { values: state.values, isotropic: state.isotropic, radial: state.radial } : {}),
      });
      answer.replaceChildren(...report(made, state));
      if (made.status === "impossible") prove(combination(made.proof));
      else if (made.queries.length <= LIMITS.heads) fly(store, made);
    } catch (reason) {
      answer.replaceChildren(element("p", /** @type {Error} */ (reason).message, "fault"));
    }
  });

  return {
    /** @param {Model} model */
    draw({ state }) {
      if (built === state.names.join()) return;
      built = state.names.join();
      rebuild();
    },
  };
}

/** @param {any} proof @returns {{inside: number[], outside: number[]} | null} */
function combination(proof) {
  const found = proof?.combination ?? proof;
  return Array.isArray(found?.inside) && Array.isArray(found?.outside) ? found : null;
}

/** "0.4 k_a + 0.6 k_b" @param {number[]} keys @param {number[]} coefficients @param {string[]} names */
function sum(keys, coefficients, names) {
  const line = element("span", "", "math key");
  keys.forEach((i, at) => {
    const c = coefficients[at];
    const sign = at ? (c < 0 ? " − " : " + ") : c < 0 ? "−" : "";
    const factor = Math.abs(c) === 1 ? "" : `${short(Math.abs(c))} `;
    line.append(`${sign}${factor}k`, element("sub", names[i]));
  });
  return line;
}

/** @param {any} made @param {State} state @returns {HTMLElement[]} */
function report(made, state) {
  const found = combination(made.proof);
  if (made.status === "impossible") {
    const lines = [element("p", "Impossible, whatever the query.", "no")];
    if (found) {
      const proof = /** @type {any} */ (found);
      const line = element("p", "Proof: ");
      const inside = sum(proof.inside, proof.inside_coefficients, state.names);
      const outside = sum(proof.outside, proof.outside_coefficients, state.names);
      line.append(inside, " = ", outside);
      lines.push(line, element("p", "A point inside the hull of others never scores above all of them.", "soft"));
    } else if (made.message) lines.push(element("p", made.message));
    if (made.certificate?.holds) lines.push(element("p", "The proof was checked without the solver.", "ok"));
    return lines;
  }
  const heads = made.queries.length;
  const lines = [];
  if (heads > LIMITS.heads) {
    const words = `More heads than the picture holds (${LIMITS.heads}); they are in the engine's answer only.`;
    lines.push(element("p", words, "maybe"));
  }
  if (made.status === "reached") lines.push(element("p", `Reached with ${heads === 1 ? "one head" : `${heads} heads`}.`, "ok"));
  else lines.push(element("p", `Nearest possible: ${made.message || made.status}`, "maybe"));
  const sharpness = [made.sharpness].flat().map(Number).map(short).join(", ");
  lines.push(element("p", `leak ${short(Number(made.leak))}, sharpness ${sharpness}`));
  if (made.certificate) {
    const { holds, leak_bound, failures } = made.certificate;
    const bound = short(Number(leak_bound));
    if (holds) lines.push(element("p", `Certified: the leak is at most ${bound}, checked without the solver.`, "ok"));
    else lines.push(element("p", `The certificate does not hold: ${failures.join("; ")}`, "no"));
  }
  if (made.robust) {
    const { error, textbook, gain } = made.robust;
    const less = `${short(gain)} times less than the textbook heads' ${short(textbook)}`;
    lines.push(element("p", `Under this noise the mean squared error is ${short(error)}, ${less}.`));
  }
  return lines;
}

/** Queries as direction and sharpness. The largest coordinates of directions and keys are equal, so that arrows are
 * about as long as keys and the address stays readable: a query for two of ten orthonormal keys is a+b.
 * @param {State} s @param {number[][]} queries */
export function split(s, queries) {
  const largest = (/** @type {number[][]} */ rows) => Math.max(...rows.flat().map(Math.abs));
  const sharpness = digits(largest(queries) / (largest(s.keys) || 1)) || 1;
  return { sharpness, directions: queries.map((q) => q.map((x) => digits(x / sharpness))) };
}

/** Nine digits are enough for any picture and the ones behind them would fill the address. @param {number} x */
const digits = (x) => Number(x.toPrecision(9));

/** @param {Store} store @param {{queries: number[][], mix: number[]}} made */
export function fly(store, made) {
  const from = store.get();
  const to = { ...split(from, made.queries), mix: made.mix };
  const start = to.directions.map((u, h) => from.directions[h] ?? u.map(() => 0));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const begin = performance.now();
  const step = (/** @type {number} */ now) => {
    const t = calm ? 1 : Math.min((now - begin) / FLIGHT, 1);
    const eased = 1 - (1 - t) ** 3;
    if (t >= 1) return store.commit(to);
    store.change({
      mix: to.mix,
      sharpness: from.sharpness ** (1 - eased) * to.sharpness ** eased,
      directions: to.directions.map((u, h) => u.map((x, j) => start[h][j] + (x - start[h][j]) * eased)),
    });
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
