/**
 * The plane of keys and queries (d = 2): hull, reachable corners, noise, one arrow per head.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").State} State
 * @typedef {import("../state/store.js").Store} Store
 */
import { Window, ellipse, join, make, set, subscript } from "./draw.js";
import { draggable } from "./handles.js";
import { edges, placeNames, widthOf } from "./labels.js";
import { hull, reachable } from "../maths/hull.js";
import { fixed, point } from "../numbers.js";

const SIZE = 400;
const round = (/** @type {number} */ x) => Math.round(x * 1e4) / 1e4;

/** @param {SVGSVGElement} picture @param {Store} store */
export function createKeyPlane(picture, store) {
  const window_ = new Window(SIZE);
  const layer = (/** @type {string} */ kind) => make("g", { class: kind }, picture);
  const axes = [make("line", { class: "axis" }, picture), make("line", { class: "axis" }, picture)];
  const shape = make("path", { class: "hull key" }, picture);
  const layers = {
    support: layer("support"), noise: layer("noise"), proof: layer("proof"), arrows: layer("arrows"),
    keys: layer("keys"), queries: layer("queries"),
  };
  /** @type {{inside: number[], outside: number[]} | null} */
  let proof = null;

  /** A handle for row `i` of a field of the state. @param {"keys" | "directions"} field @param {string} kind @param {number} i */
  const handle = (field, kind, i) => {
    const group = make("g", { class: `handle ${kind}`, tabindex: 0, role: "button", "aria-roledescription": "movable point" });
    make("circle", { class: "hit", r: 19 }, group);
    make("circle", { class: "ring", r: 12 }, group);
    make("circle", { class: "mark", r: 7.5 }, group);
    make("text", { class: "label" }, group);
    const row = (/** @type {number[]} */ point) => {
      const rows = store.get()[field].slice();
      rows[i] = [round(point[0]), round(point[1])];
      return { [field]: rows };
    };
    draggable(group, picture, {
      place: (x, y) => store.change(row(window_.from(clamp(x), clamp(y)))),
      move: (dx, dy) => {
        const [x, y] = store.get()[field][i];
        store.change(row([x + dx, y + dy]));
      },
      drop: () => store.commit(),
    });
    return group;
  };
  const clamp = (/** @type {number} */ x) => Math.min(Math.max(x, 10), SIZE - 10);

  /** @param {State} s */
  const points = (s) => [...s.keys, ...s.directions, [0, 0]];

  return {
    picture,
    /** @param {{inside: number[], outside: number[]} | null} next */
    prove: (next) => void (proof = next),
    /** @param {State} s @param {boolean} always */
    fit(s, always) {
      if (s.keys[0].length === 2 && (always || !points(s).every((p) => window_.holds(p)))) window_.fit(points(s));
    },
    /** @param {Model} model */
    draw(model) {
      const { state, mixed } = model;
      const [ox, oy] = window_.to([0, 0]);
      set(axes[0], { x1: 0, x2: SIZE, y1: oy, y2: oy });
      set(axes[1], { y1: 0, y2: SIZE, x1: ox, x2: ox });
      const at = state.keys.map((k) => window_.to(k));
      const corners = hull(state.keys).map((i) => at[i]);
      set(shape, { d: path(corners) });
      const free = reachable(state.keys);
      join(layers.keys, at.length, (i) => handle("keys", "key", i)).forEach((group, i) => {
        const name = state.names[i];
        group.classList.toggle("unreachable", !free[i]);
        move(group, at[i]);
        if (model.settled) set(group, {
          "aria-label": `k${name}, key at ${point(state.keys[i], 2)}, weight ${fixed(mixed[i], 2)}${free[i] ? "" : ", can never win"}`,
        });
        set(group.children[2], { "fill-opacity": 0.12 + 0.88 * mixed[i] });
        subscript(group.children[3], "k", name);
      });
      drawNoise(layers.noise, state, window_);
      drawHeads(model, window_, layers, (i) => handle("directions", `query head-${i + 1}`, i));
      drawProof(layers.proof, proof, at);
      nameAll(state, window_, layers, [...axes.map(ends), ...edges(corners)]);
    },
  };
}

/** @param {number[][]} at */
function path(at) {
  return at.length ? `M${at.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z` : "";
}

/** @param {Element} group @param {number[]} at */
export function move(group, [x, y]) {
  set(group, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
}

/** The ends of a drawn line. @param {Element} line @returns {import("./labels.js").Line} */
export function ends(line) {
  const at = (/** @type {string} */ name) => Number(line.getAttribute(name));
  return [at("x1"), at("y1"), at("x2"), at("y2")];
}

/** Names beside keys and queries, off arrows and other lines.
 * @param {State} state @param {Window} window_ @param {{[name: string]: Element}} layers @param {import("./labels.js").Line[]} lines */
function nameAll({ keys, directions, names }, window_, layers, lines) {
  const from = window_.to([0, 0]);
  const marks = [...keys, ...directions].map((p) => window_.to(p));
  const handles = [...layers.keys.children, ...layers.queries.children];
  const indices = [...names, ...directions.map((_, i) => (directions.length > 1 ? String(i + 1) : ""))];
  const named = handles.map((group, i) => ({ text: group.children[3], at: marks[i], from, width: widthOf(indices[i]) }));
  const drawn = [...layers.arrows.children, ...layers.support.children, ...layers.proof.children];
  placeNames(named, { marks, lines: [...lines, ...drawn.map(ends)], size: SIZE });
}

/** One-sigma ellipses of a I + rho mu mu'. @param {Element} layer @param {State} state @param {Window} window_ */
function drawNoise(layer, { keys, radial, isotropic }, window_) {
  const shown = keys.map((_, i) => i).filter((i) => isotropic > 0 || radial[i] > 0);
  join(layer, shown.length, () => make("ellipse", {})).forEach((mark, at) => {
    const i = shown[at];
    const [mx, my] = keys[i];
    const e = ellipse(isotropic + radial[i] * mx * mx, radial[i] * mx * my, isotropic + radial[i] * my * my);
    const [x, y] = window_.to(keys[i]);
    set(mark, {
      rx: Math.max(e.major * window_.unit, 1), ry: Math.max(e.minor * window_.unit, 1),
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(-e.tilt).toFixed(2)})`,
    });
  });
}

/** Arrows, handles, and the line through the winner on which all points score the same.
 * @param {Model} model @param {Window} window_ @param {{[name: string]: Element}} layers @param {(i: number) => Element} handle */
function drawHeads({ state, logits, settled }, window_, layers, handle) {
  const heads = state.directions;
  const [ox, oy] = window_.to([0, 0]);
  join(layers.arrows, heads.length, (i) => make("line", { class: `head-${i + 1}` })).forEach((line, i) => {
    const [x, y] = window_.to(heads[i]);
    set(line, { x1: ox, y1: oy, x2: x, y2: y });
  });
  join(layers.support, heads.length, (i) => make("line", { class: `head-${i + 1}` })).forEach((line, i) => {
    const winner = window_.to(state.keys[logits[i].indexOf(Math.max(...logits[i]))]);
    const [ux, uy] = heads[i];
    const length = Math.hypot(ux, uy);
    const [dx, dy] = length > 0 ? [uy / length, ux / length] : [0, 0];
    set(line, { x1: winner[0] - 600 * dx, y1: winner[1] - 600 * dy, x2: winner[0] + 600 * dx, y2: winner[1] + 600 * dy });
  });
  join(layers.queries, heads.length, handle).forEach((group, i) => {
    move(group, window_.to(heads[i]));
    if (settled) set(group, { "aria-label": `q${heads.length > 1 ? i + 1 : ""}, direction of head ${i + 1}, at ${point(heads[i], 2)}` });
    subscript(group.children[3], "q", heads.length > 1 ? String(i + 1) : "");
  });
}

/** The keys whose mixture is the impossible one.
 * @param {Element} layer @param {{inside: number[], outside: number[]} | null} proof @param {number[][]} at */
function drawProof(layer, proof, at) {
  const pairs = proof ? proof.inside.flatMap((i) => proof.outside.map((o) => [i, o])) : [];
  const known = pairs.filter(([i, o]) => i < at.length && o < at.length);
  join(layer, known.length, () => make("line", {})).forEach((line, k) => {
    const [a, b] = known[k].map((i) => at[i]);
    set(line, { x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
  });
}
