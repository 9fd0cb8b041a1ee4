/**
 * The plane of values: the output moves inside their hull; the cloud is drawn on a canvas behind, the exact mean
 * and its two-sigma ellipse come from the engine.
 * @typedef {import("../types.js").Model} Model
 * @typedef {import("../types.js").State} State
 * @typedef {import("../types.js").Moments} Moments
 * @typedef {import("../state/store.js").Store} Store
 */
import { Window, ellipse, join, make, set, subscript } from "./draw.js";
import { draggable } from "./handles.js";
import { hull } from "../maths/hull.js";
import { place, say } from "./keyplane.js";

const SIZE = 400;
const round = (/** @type {number} */ x) => Math.round(x * 1e4) / 1e4;

/** @param {SVGSVGElement} picture @param {HTMLCanvasElement} canvas @param {Store} store */
export function createValuePlane(picture, canvas, store) {
  const window_ = new Window(SIZE);
  const shape = make("path", { class: "hull value" }, picture);
  const extract = make("g", { class: "extract" }, picture);
  const links = make("g", { class: "links" }, picture);
  const exact = make("g", { class: "exact" }, picture);
  const region = make("ellipse", {}, exact);
  const cross = make("path", { d: "M-7 0H7M0 -7V7" }, exact);
  const values = make("g", { class: "values" }, picture);
  const heads = make("g", { class: "outputs" }, picture);
  const output = make("g", { class: "output" }, picture);
  make("circle", { r: 7 }, output);
  subscript(make("text", { class: "label", x: 13, y: -9 }, output), "c", "");
  /** @type {Moments | null} */
  let moments = null;

  /** @param {number} i */
  const handle = (i) => {
    const group = make("g", { class: "handle value", tabindex: 0, role: "button", "aria-roledescription": "movable point" });
    make("circle", { class: "hit", r: 19 }, group);
    make("rect", { class: "ring", x: -11, y: -11, width: 22, height: 22, rx: 4 }, group);
    make("rect", { class: "mark", x: -6.5, y: -6.5, width: 13, height: 13, rx: 2 }, group);
    make("text", { class: "label" }, group);
    const row = (/** @type {number[]} */ point) => {
      const rows = store.get().values.slice();
      rows[i] = [round(point[0]), round(point[1]), ...rows[i].slice(2)].slice(0, rows[i].length);
      return { values: rows };
    };
    draggable(group, picture, {
      place: (x, y) => store.change(row(window_.from(clamp(x), clamp(y)))),
      move: (dx, dy) => store.change(row([store.get().values[i][0] + dx, (store.get().values[i][1] ?? 0) + dy])),
      drop: () => store.commit(),
    });
    return group;
  };
  const clamp = (/** @type {number} */ x) => Math.min(Math.max(x, 10), SIZE - 10);

  return {
    picture,
    canvas,
    /** @param {Moments | null} next */
    exact: (next) => void (moments = next),
    /** @param {State} s @param {boolean} always */
    fit(s, always) {
      if (always || !s.values.every((v) => window_.holds(v))) window_.fit(s.values);
    },
    /** @param {Model} model */
    draw(model) {
      const { state, mixed } = model;
      const at = state.values.map((v) => window_.to(v));
      const centre = window_.to(window_.middle);
      const corners = hull(state.values.map((v) => [v[0], v[1] ?? 0]));
      set(shape, { d: `M${corners.map((i) => at[i].map((x) => x.toFixed(1)).join(" ")).join("L")}Z` });
      join(values, at.length, handle).forEach((group, i) => {
        place(group, at[i], centre);
        const reading = `value at ${say(state.values[i])}, weight ${mixed[i].toFixed(2)}`;
        if (model.settled) set(group, { "aria-label": `v${state.names[i]}, ${reading}` });
        set(group.children[2], { "fill-opacity": 0.12 + 0.88 * mixed[i] });
        // In a crowd only the two of the exercise and whoever has weight are named.
        const named = at.length <= 12 || i < 2 || mixed[i] > 0.05;
        subscript(group.children[3], named ? "v" : "", named ? state.names[i] : "");
      });
      const c = window_.to(model.output);
      set(output, { transform: `translate(${c[0].toFixed(1)} ${c[1].toFixed(1)})` });
      join(links, at.length, () => make("line", {})).forEach((line, i) => {
        set(line, { x1: c[0], y1: c[1], x2: at[i][0], y2: at[i][1], "stroke-opacity": Math.min(0.7, mixed[i]) });
      });
      const several = model.outputs.length > 1 ? model.outputs : [];
      join(heads, several.length, (i) => make("circle", { class: `head-${i + 1}`, r: 5 })).forEach((mark, i) => {
        const [cx, cy] = window_.to(several[i]);
        set(mark, { cx, cy });
      });
      drawExact(exact, region, cross, moments, window_);
      drawExtract(extract, state, window_);
      drawCloud(canvas, model, window_);
    },
  };
}

/** @param {Element} group @param {Element} region @param {Element} cross @param {Moments | null} moments @param {Window} window_ */
function drawExact(group, region, cross, moments, window_) {
  group.classList.toggle("hidden", !moments);
  if (!moments) return;
  const [x, y] = window_.to(moments.mean);
  const C = moments.covariance;
  const e = ellipse(C[0][0], C[0][1] ?? 0, C[1]?.[1] ?? 0);
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  set(region, {
    rx: Math.max(2 * e.major * window_.unit, 1), ry: Math.max(2 * e.minor * window_.unit, 1),
    transform: `${transform} rotate(${(-e.tilt).toFixed(2)})`,
  });
  set(cross, { transform });
}

/** v_a out of v_a + v_b: the oblique projector onto span(v_a) along span(v_b), drawn for the subspaces preset.
 * @param {Element} layer @param {State} state @param {Window} window_ */
function drawExtract(layer, state, window_) {
  const shown = state.preset === "subspaces" && state.values.length > 1;
  const marks = join(layer, shown ? 5 : 0, (i) =>
    i < 4 ? make("line", { class: ["span", "span", "drop", "drop"][i] }) : make("text", { class: "label" }),
  );
  if (!shown) return;
  const [a, b] = state.values;
  const ends = (/** @type {number[]} */ v) => [-3, 3].map((t) => window_.to([t * v[0], t * v[1]]));
  const sum = window_.to([a[0] + b[0], a[1] + b[1]]);
  const lines = [ends(a), ends(b), [sum, window_.to(a)], [sum, window_.to(b)]];
  lines.forEach(([from, to], i) => set(marks[i], { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
  if (!marks[4].firstChild) {
    for (const [word, index] of [["v", "a"], [" + v", "b"]]) {
      make("tspan", index === "b" ? { dy: -3.5 } : {}, marks[4]).textContent = word;
      make("tspan", { class: "index", dy: 3.5 }, marks[4]).textContent = index;
    }
  }
  set(marks[4], { x: sum[0] - 12, y: sum[1] - 9 });
}

/** @param {HTMLCanvasElement} canvas @param {Model} model @param {Window} window_ */
function drawCloud(canvas, model, window_) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = canvas.width / SIZE;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const cloud = model.cloud;
  // What is drawn, in picture coordinates, for whoever saves the picture; computed only then.
  /** @type {any} */ (canvas).cloudPoints = () =>
    cloud && Float64Array.from(cloud.outputs, (c, i) => window_.size / 2 + (i % 2 ? -1 : 1) * (c - window_.middle[i % 2]) * window_.unit);
  if (!cloud) return;
  const { outputs, samples } = cloud;
  const dot = Math.max(1.6 * ratio, 1.7);
  const unit = window_.unit * ratio;
  const [x0, y0] = window_.to([0, 0]).map((x) => x * ratio - dot / 2);
  context.fillStyle = canvas.dataset.colour ?? "gray";
  context.globalAlpha = 0.55;
  context.beginPath();
  for (let s = 0; s < samples; s++) context.rect(x0 + outputs[2 * s] * unit, y0 - outputs[2 * s + 1] * unit, dot, dot);
  context.fill();
}
