/** Drawing in SVG: make an element, keep a list of elements as long as the data, map data to the picture. */
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{[name: string]: string | number}} Attributes */

/** @param {string} tag @param {Attributes} attributes @param {Element | null} parent @returns {SVGElement} */
export function make(tag, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, tag);
  set(element, attributes);
  parent?.append(element);
  return element;
}

/** What `set` wrote last: asking the document on every frame costs as much as writing. @type {WeakMap<Element, Attributes>} */
const written = new WeakMap();

/** @param {Element} element @param {Attributes} attributes */
export function set(element, attributes) {
  const known = written.get(element) ?? {};
  written.set(element, known);
  for (const name in attributes) {
    const given = attributes[name];
    const value = typeof given === "number" ? Math.round(given * 100) / 100 : given;
    if (known[name] === value) continue;
    known[name] = value;
    element.setAttribute(name, String(value));
  }
}

/** Exactly `count` children, made and dropped at the end, so that what has the focus keeps it.
 * @param {Element} parent @param {number} count @param {(index: number) => Element} create @returns {Element[]} */
export function join(parent, count, create) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  for (let i = parent.children.length; i < count; i++) parent.append(create(i));
  return [...parent.children];
}

/** A letter with an index: k_a. @param {Element} text @param {string} letter @param {string} index */
export function subscript(text, letter, index) {
  if (text.getAttribute("data-text") === letter + index) return;
  text.replaceChildren();
  text.setAttribute("data-text", letter + index);
  make("tspan", { class: "letter" }, text).textContent = letter;
  make("tspan", { class: "index", dy: 3.5 }, text).textContent = index;
}

/** An HTML element with text. @param {string} tag @param {string} text @param {string} kind @returns {HTMLElement} */
export function element(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** A square window on the plane, equal scales on both axes. */
export class Window {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    this.middle = [0, 0];
    this.unit = size / 4;
  }

  /** Show all points (and the origin if wanted) with room around. @param {number[][]} points */
  fit(points) {
    const [low, high] = [0, 1].map((axis) => points.map((p) => p[axis] ?? 0)).reduce(
      (out, column) => [[...out[0], Math.min(...column)], [...out[1], Math.max(...column)]],
      /** @type {number[][]} */ ([[], []]),
    );
    const extent = Math.max(high[0] - low[0], high[1] - low[1], 1e-6);
    this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    this.unit = this.size / (extent * 1.42);
  }

  /** @param {number[]} point */
  holds(point) {
    const [x, y] = this.to(point);
    return Math.min(x, y) > 8 && Math.max(x, y) < this.size - 8;
  }

  /** @param {number[]} point @returns {[number, number]} */
  to(point) {
    return [
      this.size / 2 + (point[0] - this.middle[0]) * this.unit,
      this.size / 2 - ((point[1] ?? 0) - this.middle[1]) * this.unit,
    ];
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  from(x, y) {
    return [
      (x - this.size / 2) / this.unit + this.middle[0],
      (this.size / 2 - y) / this.unit + this.middle[1],
    ];
  }
}

/** Axes and half axes of the ellipse of a 2 x 2 covariance, and its tilt in degrees.
 * @param {number} a @param {number} b @param {number} c entries [[a, b], [b, c]] */
export function ellipse(a, b, c) {
  const half = (a + c) / 2;
  const root = Math.hypot((a - c) / 2, b);
  const tilt = (Math.atan2(2 * b, a - c) / 2) * (180 / Math.PI);
  return { major: Math.sqrt(Math.max(half + root, 0)), minor: Math.sqrt(Math.max(half - root, 0)), tilt };
}
