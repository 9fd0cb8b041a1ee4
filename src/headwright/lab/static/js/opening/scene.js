/**
 * The picture of the opening: on the left the length of key a under its bell curve, on the right the values on their
 * circle and the output, which leaves a dot behind at every draw.
 * @typedef {import("./acts.js").Act} Act
 */
import { join, make, set, subscript } from "../drawing/draw.js";

const WIDE = "0 0 720 330";
// On a phone the circle stands below the length.
const TALL = { view: "0 50 380 510", circle: "translate(-340 245)" };
const CIRCLE = { x: 530, y: 165, unit: 132 };
const LINE = { x: 112, y: 190, unit: 68, low: -1.4, high: 3.2, tall: 120 };
const MOVES = 0.45; // of the time of a draw; then it rests

/** @param {number[]} point @returns {[number, number]} */
const place = (point) => [CIRCLE.x + CIRCLE.unit * point[0], CIRCLE.y - CIRCLE.unit * (point[1] ?? 0)];
const along = (/** @type {number} */ length) => LINE.x + LINE.unit * length;

/** The bell curve of N(1, rho) from one length to another, closed on the axis. @param {number} rho @param {number} from @param {number} to */
function bell(rho, from, to) {
  const steps = 60;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const x = from + ((to - from) * i) / steps;
    const height = LINE.tall * Math.exp(-((x - 1) ** 2) / (2 * rho));
    return `${along(x).toFixed(1)} ${(LINE.y - height).toFixed(1)}`;
  });
  return `M${along(from)} ${LINE.y}L${points.join("L")}L${along(to)} ${LINE.y}Z`;
}

/** The left picture: the axis of lengths, the key on it, and a tick for every draw. @param {Element} picture */
function createLengths(picture) {
  const curve = make("path", { class: "bell" }, picture);
  const tail = make("path", { class: "tail" }, picture);
  make("line", { class: "axis", x1: along(LINE.low), x2: along(LINE.high), y1: LINE.y, y2: LINE.y }, picture);
  const rug = make("g", { class: "rug" }, picture);
  const word = (/** @type {number} */ at, /** @type {number} */ y, /** @type {string} */ text) =>
    void (make("text", { class: "tick", x: along(at), y: LINE.y + y, "text-anchor": "middle" }, picture).textContent = text);
  for (const length of [-1, 0, 1, 2, 3]) word(length, 36, String(length));
  word(1, 58, "length of key a");
  const arrow = make("line", { class: "arrow", x1: along(0), y1: LINE.y, y2: LINE.y }, picture);
  const tip = make("g", { class: "tip" }, picture);
  make("circle", { r: 8 }, tip);
  subscript(make("text", { class: "label", y: -15, "text-anchor": "middle" }, tip), "k", "a");
  return { curve, tail, rug, arrow, tip };
}

/** @param {boolean} narrow */
export function createScene(narrow) {
  const picture = make("svg", { viewBox: narrow ? TALL.view : WIDE, role: "img" });
  const { curve, tail, rug, arrow, tip } = createLengths(picture);

  const circle = make("g", narrow ? { transform: TALL.circle } : {}, picture);
  const values = make("g", { class: "squares" }, circle);
  const others = make("text", { class: "tick", x: CIRCLE.x, y: CIRCLE.y + 92, "text-anchor": "middle" }, circle);
  const cloud = make("g", { class: "trail" }, circle);
  const heads = make("g", { class: "outputs" }, circle);
  const links = make("g", { class: "links" }, circle);
  const output = make("g", { class: "output" }, circle);
  make("circle", { r: 8 }, output);
  subscript(make("text", { class: "label", y: -16, "text-anchor": "middle" }, output), "c", "");

  return {
    picture,
    /** @param {Act} act @param {number} shown draws, with the part of the one that is under way */
    draw(act, shown) {
      const { state, draws } = act;
      const rho = state.radial[0];
      set(picture, { "aria-label": `${act.title}. ${act.words}` });
      set(curve, { d: bell(rho, LINE.low, LINE.high) });
      set(tail, { d: bell(rho, LINE.low, 0) });
      drawValues(values, state.values);
      others.textContent = `${state.values.length - 2} other values`;

      const whole = Math.min(Math.floor(shown), draws.length);
      const now = draws[whole < draws.length ? whole : act.rests];
      const last = draws[Math.max(whole - 1, 0)];
      const part = whole < draws.length ? ease((shown - whole) / MOVES) : 1;
      const between = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.map((x, i) => x + (b[i] - x) * part);

      const [length] = between([last.length], [now.length]);
      set(arrow, { x2: along(length) });
      set(tip, { transform: `translate(${along(length).toFixed(1)} ${LINE.y})`, class: length < 0 ? "tip turned" : "tip" });
      const c = place(between(last.output, now.output));
      set(output, { transform: `translate(${c[0].toFixed(1)} ${c[1].toFixed(1)})` });
      const own = now.outputs.length > 1 ? now.outputs.map((to, h) => place(between(last.outputs[h], to))) : [];
      join(heads, own.length, (h) => make("circle", { class: `head-${h + 1}`, r: 6 })).forEach((ring, h) => set(ring, { cx: own[h][0], cy: own[h][1] }));
      join(links, own.length, () => make("line")).forEach((line, h) => set(line, { x1: c[0], y1: c[1], x2: own[h][0], y2: own[h][1] }));

      join(rug, whole, () => make("line", { y1: LINE.y + 6, y2: LINE.y + 16 })).forEach((mark, i) => {
        const x = along(Math.min(Math.max(draws[i].length, LINE.low), LINE.high));
        set(mark, { x1: x, x2: x, class: draws[i].length < 0 ? "turned" : "" });
      });
      join(cloud, whole, () => make("circle", { r: 2.4 })).forEach((dot, i) => {
        const [cx, cy] = place(scattered(draws[i].output, i));
        set(dot, { cx, cy, class: draws[i].length < 0 ? "turned" : "" });
      });
    },
  };
}

/** @param {number} t */
const ease = (t) => (t >= 1 ? 1 : t * t * (3 - 2 * t));

/** Equal outputs would hide each other; the dots lie around them as seeds do on a sunflower. @param {number[]} output @param {number} i */
function scattered(output, i) {
  const angle = i * 2.39996; // the golden angle
  const far = 0.005 * Math.sqrt(i);
  return [output[0] + far * Math.cos(angle), (output[1] ?? 0) + far * Math.sin(angle)];
}

/** @param {Element} layer @param {number[][]} values */
function drawValues(layer, values) {
  join(layer, values.length, (i) => {
    const group = make("g");
    make("rect", { x: -7, y: -7, width: 14, height: 14, rx: 2.5, class: i < 2 ? "asked" : "" }, group);
    if (i < 2) subscript(make("text", { class: "label", x: i ? 30 : -30, y: 5, "text-anchor": "middle" }, group), "v", "ab"[i]);
    return group;
  }).forEach((group, i) => {
    const [x, y] = place(values[i]);
    set(group, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
  });
}
