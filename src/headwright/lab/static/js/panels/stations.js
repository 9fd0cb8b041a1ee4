/**
 * The guided walk: a numbered card beside the live plane, a goal the page checks, progress remembered.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").Station} Station
 * @typedef {import("../state/store.js").Store} Store
 * @typedef {import("../state/state.js").Presets} Presets
 */
import { element } from "../drawing/draw.js";
import { load } from "../documents.js";
import { reached, standing } from "./goals.js";
import { derive } from "../maths/model.js";
import { recall, remember } from "../memory.js";
import { fromHash } from "../state/state.js";

const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @returns {Set<number>} */
function remembered() {
  try {
    return new Set(JSON.parse(recall("stations") ?? "[]"));
  } catch {
    return new Set();
  }
}

/** v_a with its index below the line. @param {string} goal @returns {(string | HTMLElement)[]} */
function typeset(goal) {
  return goal.split(/\b([kv]_[a-z])\b/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [letter, index] = part.split("_");
    const name = element("i", letter, "math");
    name.append(element("sub", index));
    return name;
  });
}

/** @param {number} number */
export function startHash(/** @type {Station[]} */ stations, number) {
  return `#${stations[number - 1].state}&station=${number}`;
}

/** @param {Station[]} stations @param {Presets} presets @param {Store} store */
export function createStations(stations, presets, store) {
  const done = remembered();
  let shown = 0;
  let marked = "";
  /** @type {Model | null} */
  let start = null;

  const dots = stations.map((station) => {
    const link = document.createElement("a");
    link.href = startHash(stations, station.number);
    link.textContent = String(station.number);
    link.title = station.title;
    link.setAttribute("aria-label", `Station ${station.number}: ${station.title}`);
    const item = element("li");
    item.append(link);
    find("dots").append(item);
    return link;
  });

  /** @param {number} number */
  const go = (number) => {
    if (number < 1 || number > stations.length) return;
    location.hash = startHash(stations, number);
  };

  /** @param {Station} station */
  const show = async (station) => {
    shown = station.number;
    start = derive(fromHash(station.state, presets));
    find("station-number").textContent = `Station ${station.number} of ${stations.length}`;
    find("station-title").textContent = station.title;
    find("goal-text").replaceChildren(...typeset(station.goal));
    find("station-back").toggleAttribute("disabled", station.number === 1);
    find("station-next").toggleAttribute("disabled", station.number === stations.length);
    const text = new DOMParser().parseFromString(await load(station.fragment), "text/html");
    for (const formula of text.querySelectorAll("svg[data-drop]")) {
      const drop = formula.getAttribute("data-drop");
      /** @type {SVGElement} */ (formula).style.verticalAlign = `-${drop}px`;
    }
    if (shown === station.number) find("station-text").replaceChildren(...text.body.childNodes);
  };

  find("station-back").addEventListener("click", () => go(shown - 1));
  find("station-next").addEventListener("click", () => go(shown + 1));
  find("station-read").addEventListener("click", () => {
    const open = find("card").classList.toggle("open");
    find("station-read").setAttribute("aria-expanded", String(open));
  });
  find("station-set").addEventListener("click", () => {
    store.commit({ ...fromHash(stations[shown - 1].state, presets), station: shown });
  });
  document.addEventListener("keydown", (event) => {
    const free = event.target === document.body && !event.ctrlKey && !event.metaKey && !event.altKey;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!free || !step) return;
    event.preventDefault();
    go(shown + step);
  });

  return {
    /** @param {Model} model */
    draw(model) {
      const wanted = model.state.station || shown || 1;
      if (wanted !== shown && stations[wanted - 1]) void show(stations[wanted - 1]);
      const station = stations[shown - 1];
      const inside = model.state.station === shown && start !== null;
      const there = inside && reached(model, station.conditions, /** @type {Model} */ (start));
      if (there && !done.has(shown)) {
        done.add(shown);
        remember("stations", JSON.stringify([...done]));
      }
      find("goal").classList.toggle("reached", there);
      find("goal").classList.toggle("idle", !inside);
      find("goal-now").textContent = inside ? standing(model, station.conditions, /** @type {Model} */ (start)) : "";
      if (marked === `${shown} ${done.size}`) return;
      marked = `${shown} ${done.size}`;
      dots.forEach((dot, i) => {
        dot.classList.toggle("reached", done.has(i + 1));
        if (i + 1 === shown) dot.setAttribute("aria-current", "step");
        else dot.removeAttribute("aria-current");
      });
    },
  };
}
