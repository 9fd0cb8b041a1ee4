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
import { ends, move } from "./keyplane.js";
import { edges, placeNames, widthOf } from "./labels.js";
import { fixed, point } from "../numbers.js";

const SIZE = 400;
const FAINT = 0.06; // a link of less weight is hardly seen
const CORNERS = 24; // of the polygon that stands for the ellipse
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
  subscript(make("text", { class: "label" }, output), "c", "");
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
      const corners = hull(state.values.map((v) => [v[0], v[1] ?? 0]));
      set(shape, { d: `M${corners.map((i) => at[i].map((x) => x.toFixed(1)).join(" ")).join("L")}Z` });
      join(values, at.length, handle).forEach((group, i) => {
        move(group, at[i]);
        const reading = `value at ${point(state.values[i], 2)}, weight ${fixed(mixed[i], 2)}`;
        if (model.settled) set(group, { "aria-label": `v${state.names[i]}, ${reading}` });
        set(group.children[2], { "fill-opacity": 0.12 + 0.88 * mixed[i] });
        // In a crowd only the two of the exercise and whoever has weight are named.
        const named = at.length <= 12 || i < 2 || mixed[i] > 0.05;
        subscript(group.children[3], named ? "v" : "", named ? state.names[i] : "");
      });
      const c = window_.to(model.output);
      move(output, c);
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
      nameAll(model, { at, c, own: several.map((x) => window_.to(x)), shapes: [corners.map((i) => at[i]), moments ? outline(moments, window_) : []] });
    },
  };

  /** Names beside the values, the output and the sum, off the lines between them.
   * @param {Model} model @param {{at: number[][], c: number[], own: number[][], shapes: number[][][]}} drawn */
  function nameAll({ state, mixed }, { at, c, own, shapes }) {
    const from = window_.to(window_.middle);
    const named = at.map((place, i) => {
      const text = values.children[i].children[3];
      return { text, at: place, from, width: text.textContent ? widthOf(state.names[i]) : 0 };
    });
    // Looked at from below, c is named above itself unless something is there.
    named.push({ text: output.children[1], at: c, from: [c[0] - 1, c[1] + 1], width: widthOf("") });
    const sum = extract.children[4]?.firstElementChild;
    const marks = [...at, c, ...own];
    if (sum) {
      const place = sumOf(state, window_);
      named.push({ text: sum, at: place, from: [place[0] + 1, place[1] + 1], width: 46 });
    }
    const strong = [...links.children].filter((_, i) => mixed[i] > FAINT);
    const drawn = [...strong, ...[...extract.children].slice(0, 4)].map(ends);
    placeNames(named, { marks, lines: [...drawn, ...shapes.flatMap(edges)], size: SIZE });
  }
}

/** v_a + v_b in the picture. @param {State} state @param {Window} window_ */
function sumOf({ values: [a, b] }, window_) {
  return window_.to([a[0] + b[0], a[1] + b[1]]);
}

/** The exact ellipse as a polygon. @param {Moments} moments @param {Window} window_ */
function outline({ mean, covariance: C }, window_) {
  const e = ellipse(C[0][0], C[0][1] ?? 0, C[1]?.[1] ?? 0);
  const tilt = (e.tilt * Math.PI) / 180;
  return Array.from({ length: CORNERS }, (_, i) => {
    const angle = (2 * Math.PI * i) / CORNERS;
    const [x, y] = [2 * e.major * Math.cos(angle), 2 * e.minor * Math.sin(angle)];
    return window_.to([mean[0] + x * Math.cos(tilt) - y * Math.sin(tilt), (mean[1] ?? 0) + x * Math.sin(tilt) + y * Math.cos(tilt)]);
  });
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
    i < 4 ? make("line", { class: ["span", "span", "drop", "drop"][i] }) : sumLabel(),
  );
  if (!shown) return;
  const [a, b] = state.values;
  const span = (/** @type {number[]} */ v) => [-3, 3].map((t) => window_.to([t * v[0], t * v[1]]));
  const sum = sumOf(state, window_);
  const lines = [span(a), span(b), [sum, window_.to(a)], [sum, window_.to(b)]];
  lines.forEach(([from, to], i) => set(marks[i], { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
  move(marks[4], sum);
}

/** v_a + v_b, in the group of its corner. */
function sumLabel() {
  const group = make("g");
  const text = make("text", { class: "label" }, group);
  for (const [word, index] of [["v", "a"], [" + v", "b"]]) {
    make("tspan", index === "b" ? { dy: -3.5 } : {}, text).textContent = word;
    make("tspan", { class: "index", dy: 3.5 }, text).textContent = index;
  }
  return group;
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
