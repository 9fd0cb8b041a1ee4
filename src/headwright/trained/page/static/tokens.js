/**
 * One head on a passage: a line per query, its heaviest keys shaded among their neighbours, and in words what the
 * query under the pointer, the finger or the keyboard looks at. Every token is set as text, never as markup.
 * @typedef {{keys: string[], queries: string[] | null, places: number[], special: number[], rtl: boolean}} Passage
 * @typedef {{key: number, weight: number}} Heavy
 */
"use strict";

// Signs for what has no shape of its own; a token's own letters are never changed.
const SIGNS = { " ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽" };
// Joiners shape the letters beside them, so they are spelled only where they stand alone.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const JOINERS = /^[\u200c\u200d]+$/;
// Neighbours shown on either side of a heavy key, by how many heavy keys there are.
const NEIGHBOURS = [[4, 3], [8, 1]];
const BEFORE_QUERY = 3;
const MOST_SHADE = 62;

const percent = (/** @type {number} */ w) => (w > 0.995 && w < 1 ? ">99%" : `${Math.round(100 * w)}%`);

/** @param {string} tag @param {Record<string, string>} attributes @param {...(Node | string)} children */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The token's characters, those without a shape as signs. @param {string} token */
function letters(token) {
  const parts = [];
  for (const letter of token) {
    const hidden = INVISIBLE.test(letter) || JOINERS.test(token);
    const sign = SIGNS[letter] ?? (hidden ? `U+${letter.codePointAt(0).toString(16).padStart(4, "0")}` : "");
    parts.push(sign ? make("i", {}, sign) : letter);
  }
  return parts.length ? parts : [make("i", {}, "∅")];
}

/** In a sentence: quoted, on one line. @param {string} token */
const quoted = (token) => `“${[...token].map((c) => SIGNS[c] ?? (INVISIBLE.test(c) ? "·" : c)).join("")}”`;

/** The places shown for a query, in order: heavy keys and neighbours, and the query itself. */
function shownPlaces(/** @type {Heavy[]} */ heavy, /** @type {number} */ query, /** @type {number} */ size, /** @type {boolean} */ own) {
  const around = NEIGHBOURS.find(([most]) => heavy.length <= most)?.[1] ?? 0;
  const places = new Set();
  const add = (/** @type {number} */ low, /** @type {number} */ high) => {
    for (let j = Math.max(low, 0); j <= Math.min(high, size - 1); j += 1) places.add(j);
  };
  for (const { key } of heavy) add(key - around, key + around);
  if (own) add(query - BEFORE_QUERY, query);
  return [...places].sort((a, b) => a - b);
}

/** One query's line of key tokens. @param {Passage} passage @param {number} query @param {Heavy[]} heavy */
function keyLine(passage, query, heavy) {
  const weights = new Map(heavy.map(({ key, weight }) => [key, weight]));
  const own = passage.queries === null;
  const line = make("span", { class: "keys", dir: passage.rtl ? "rtl" : "ltr" });
  let last = -1;
  for (const j of shownPlaces(heavy, query, passage.keys.length, own)) {
    if (j > last + 1) line.append(make("span", { class: "gap", title: `${j - last - 1} more tokens` }, "⋯"));
    const weight = weights.get(j) ?? 0;
    const token = make("bdi", { class: "token", "data-key": String(j) }, ...letters(passage.keys[j]));
    token.style.setProperty("--shade", `${(MOST_SHADE * weight ** 0.6).toFixed(0)}%`);
    if (weight) token.title = percent(weight);
    if (passage.special.includes(j)) token.classList.add("special");
    if (own && j === query) token.classList.add("asking");
    line.append(token);
    last = j;
  }
  if (last < passage.keys.length - 1) line.append(make("span", { class: "gap" }, "⋯"));
  return line;
}

/** What a query looks at, in words. @param {Passage} passage @param {number} query @param {Heavy[]} heavy */
function inWords(passage, query, heavy) {
  const token = (passage.queries ?? passage.keys)[query];
  const named = heavy.map(({ key, weight }) => `${percent(weight)} on ${quoted(passage.keys[key])} (${key})`);
  const rest = 1 - heavy.reduce((sum, { weight }) => sum + weight, 0);
  if (!named.length) return `${quoted(token)} (${query}): no key has 1% or more.`;
  return `${quoted(token)} (${query}): ${named.join(", ")}; ${percent(Math.max(rest, 0))} on the rest.`;
}

/** Which of `size` lines are open at first: `few`, spread evenly, the last among them. */
function openAtFirst(/** @type {number} */ size, /** @type {number} */ few) {
  if (few >= size) return new Set(Array(size).keys());
  return new Set(Array.from({ length: few }, (_, i) => Math.round(((i + 1) * size) / few) - 1));
}

/**
 * The view of one head. `rows` are [place of the query, its heavy keys]; `few` are open, the others behind a button.
 * @param {Passage} passage @param {[number, Heavy[]][]} rows @param {string} name @param {number} few
 */
function tokenView(passage, rows, name, few) {
  const said = make("p", { class: "said", "aria-live": "polite" }, "Point at a line, tap it or use the arrow keys: its heaviest keys, in words.");
  const list = make("ul", { class: "lines", "aria-label": `queries of head ${name}` });
  const open = openAtFirst(rows.length, few);
  const buttons = rows.map(([query, heavy], i) => {
    const words = inWords(passage, query, heavy);
    const token = make("bdi", { class: "query" }, ...letters((passage.queries ?? passage.keys)[query]));
    // What is spoken is the sentence; the tokens themselves are for the eye.
    const seen = make("span", { class: "seen", "aria-hidden": "true" },
      make("span", { class: "place" }, String(query)), token, keyLine(passage, query, heavy));
    const button = make("button", { type: "button", class: "line", tabindex: i === Math.min(...open) ? "0" : "-1" },
      seen, make("span", { class: "spoken" }, words));
    const tell = (/** @type {Event} */ event) => {
      const on = /** @type {HTMLElement} */ (event.target).closest?.(".token");
      const key = heavy.find((one) => on && one.key === Number(on.getAttribute("data-key")));
      said.textContent = (key ? `${quoted(passage.keys[key.key])} (${key.key}) has ${percent(key.weight)}. ` : "") + words;
      for (const other of buttons) other.classList.toggle("told", other === button);
    };
    for (const kind of ["pointerover", "focus", "click"]) button.addEventListener(kind, tell);
    const item = make("li", {}, button);
    item.hidden = !open.has(i);
    list.append(item);
    return button;
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const shown = buttons.filter((button) => !button.parentElement?.hidden);
    const next = shown[shown.indexOf(document.activeElement) + (step ?? 0)];
    if (!step || !next) return;
    event.preventDefault();
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
  const view = make("div", { class: "tokens" }, list, said);
  if (rows.length > open.size) {
    const more = make("button", { type: "button", class: "plain" }, `All ${rows.length} queries`);
    more.addEventListener("click", () => {
      for (const item of list.children) item.hidden = false;
      more.remove();
      buttons.find((button) => button.tabIndex === 0)?.focus();
    });
    view.append(more);
  }
  return view;
}

/** Packed bytes. @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** The rows of every head from the three packed arrays, one function of the head's number. */
function unpackLooks(/** @type {{counts: string, keys: string, weights: string}} */ packed, /** @type {number[]} */ sizes) {
  const counts = bytes(packed.counts);
  const keys = new Uint16Array(bytes(packed.keys).buffer);
  const weights = new Uint16Array(bytes(packed.weights).buffer);
  const starts = [0];
  for (const size of sizes) starts.push(starts[starts.length - 1] + size);
  const offsets = [0];
  for (const count of counts) offsets.push(offsets[offsets.length - 1] + count);
  return (/** @type {number} */ head, /** @type {number[]} */ places) =>
    Array.from({ length: sizes[head] }, (_, r) => {
      const at = starts[head] + r;
      const heavy = [];
      for (let c = offsets[at]; c < offsets[at + 1]; c += 1) heavy.push({ key: keys[c], weight: weights[c] / 65535 });
      return /** @type {[number, Heavy[]]} */ ([places[r], heavy]);
    });
}
