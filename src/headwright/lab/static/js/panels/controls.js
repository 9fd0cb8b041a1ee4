/**
 * Sliders and menus. Sharpness is a power of ten; noise too, with zero at its left end.
 * @typedef {import("../types.js").State} State
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../state/store.js").Store} Store
 * @typedef {import("../state/state.js").Presets} Presets
 */
import { equal } from "../maths/attention.js";
import { element } from "../drawing/draw.js";
import { short } from "../numbers.js";

const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id));
const NOISE = { most: 60, low: -6, high: 0.5 };

const noiseAt = (/** @type {number} */ t) =>
  t <= 0 ? 0 : Number((10 ** (NOISE.low + ((t - 1) / (NOISE.most - 1)) * (NOISE.high - NOISE.low))).toPrecision(2));
const noiseFrom = (/** @type {number} */ a) =>
  a <= 0 ? 0 : 1 + ((Math.log10(a) - NOISE.low) / (NOISE.high - NOISE.low)) * (NOISE.most - 1);

/** One more head turned a little away from the last, or fewer. @param {State} s @param {number} count */
export function withHeads(s, count) {
  const heads = s.directions.slice(0, count);
  while (heads.length < count) {
    const last = heads[heads.length - 1];
    const spare = s.keys[heads.length % s.keys.length];
    heads.push(s.keys[0].length === 2 ? [-last[1], last[0]] : spare.slice());
  }
  return heads;
}

/** @param {Store} store @param {Presets} presets @param {(preset: string) => void} choose */
export function createControls(store, presets, choose) {
  for (const [name, preset] of Object.entries(presets)) {
    input("preset").append(new Option(/** @type {any} */ (preset).title, name));
  }
  input("preset").addEventListener("change", () => choose(input("preset").value));

  /** @param {string} id @param {() => Partial<State>} read */
  const live = (id, read) => {
    input(id).addEventListener("input", () => store.change(read()));
    input(id).addEventListener("change", () => store.commit(read()));
  };
  const radialKey = () => Number(input("radial-key").value);
  live("beta", () => ({ sharpness: Number((10 ** Number(input("beta").value)).toPrecision(3)) }));
  live("noise", () => ({ isotropic: noiseAt(Number(input("noise").value)) }));
  live("radial", () => ({ radial: store.get().radial.map((r, i) => (i === radialKey() ? Number(input("radial").value) : r)) }));
  input("radial-key").addEventListener("change", () => store.commit());
  input("heads").addEventListener("change", () => {
    const directions = withHeads(store.get(), Number(input("heads").value));
    store.commit({ directions, mix: equal(directions.length) });
  });
  input("focus").addEventListener("change", () => store.commit({ focus: Number(input("focus").value) }));
  input("compare").addEventListener("change", () => store.commit({ compare: input("compare").checked }));
  input("scale").addEventListener("change", () => {
    store.commit({ scale: input("scale").value === "1" ? 1 : 1 / Math.sqrt(store.get().keys[0].length) });
  });
  input("controls").addEventListener("submit", (event) => event.preventDefault());

  /** @param {string} id @param {string[]} names */
  const choices = (id, names) => {
    const select = /** @type {any} */ (input(id));
    const now = select.value;
    select.replaceChildren(...names.map((name, i) => Object.assign(element("option", name), { value: String(i) })));
    if (now && Number(now) < names.length) select.value = now;
  };

  let listed = "";
  return {
    /** @param {Model} model */
    draw({ state }) {
      if (listed !== state.names.join()) {
        listed = state.names.join();
        choices("radial-key", state.names);
        choices("focus", state.names);
      }
      input("preset").value = state.preset;
      input("beta").value = String(Math.log10(Math.max(state.sharpness, 0.1)));
      input("noise").value = String(noiseFrom(state.isotropic));
      input("radial").value = String(state.radial[radialKey()] ?? 0);
      input("focus").value = String(state.focus);
      const heads = /** @type {any} */ (input("heads"));
      while (heads.options.length < state.directions.length) heads.append(new Option(String(heads.options.length + 1)));
      heads.value = String(state.directions.length);
      input("compare").checked = state.compare;
      input("compare").disabled = state.directions.length < 2;
      input("scale").value = state.scale === 1 ? "1" : "root";
      input("beta-out").textContent = short(state.sharpness);
      input("noise-out").textContent = short(state.isotropic);
      input("radial-out").textContent = short(state.radial[radialKey()] ?? 0);
    },
  };
}
