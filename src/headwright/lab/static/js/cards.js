/**
 * The cards page: the audit's table, a map of layers and heads, and one card per head with its place among all.
 * It reads what `headwright audit --json` writes; the file shipped with the lab also has titles and pictures.
 * @typedef {{[measure: string]: any, layer: number, head: number, stack?: string, sentence?: string, picture?: number[][]}} Head
 * @typedef {{model?: string, about?: string, heads: Head[], measures?: {[name: string]: [string, string]}}} Audit
 */
import { element, join, make, set } from "./drawing/draw.js";
import { load } from "./documents.js";
import { short } from "./numbers.js";
import { theme } from "./page.js";

const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const PLACE = new Set(["layer", "head", "stack", "twin"]);
const MOST_COLUMNS = 7;
const CELL = 14;

/** @type {Audit} */
let audit = { heads: [] };
let [measure, falling, chosen] = ["", true, 0];

/** The columns that hold numbers, standard errors aside. @returns {string[]} */
function measures() {
  const names = Object.keys(audit.heads[0] ?? {}).filter((name) => !PLACE.has(name) && !name.endsWith("_se"));
  return names.filter((name) => audit.heads.some((h) => typeof h[name] === "number"));
}

const title = (/** @type {string} */ name) => audit.measures?.[name]?.[0] ?? name.replaceAll("_", " ");
const meaning = (/** @type {string} */ name) => audit.measures?.[name]?.[1] ?? "";
const number = (/** @type {unknown} */ x) => (typeof x === "number" ? short(x) : "–");
const spoken = (/** @type {Head} */ h) => `${h.stack && h.stack !== "model" ? `${h.stack} ` : ""}layer ${h.layer} head ${h.head}`;

/** @param {any} next */
function show(next) {
  const placed = (/** @type {any} */ h) => Number.isInteger(h?.layer) && Number.isInteger(h?.head);
  const good = Array.isArray(next?.heads) && next.heads.length > 0 && next.heads.every(placed);
  if (!good) throw new Error("wanted an audit with heads; got something else; try: headwright audit MODEL --text FILE --json > audit.json");
  audit = next;
  [measure, falling, chosen] = [measures()[0] ?? "", true, 0];
  find("about").textContent = `${audit.heads.length} heads of ${audit.model ?? "a model"}. ${audit.about ?? ""}`;
  find("measure").replaceChildren(...measures().map((name) => new Option(title(name), name)));
  draw();
}

function draw() {
  find("measure").value = measure;
  find("meaning").textContent = meaning(measure);
  drawMap();
  drawTable();
  drawHead();
}

/** Where a value stands among all heads, 0 to 1. @param {string} name @param {unknown} value */
function place(name, value) {
  const all = audit.heads.map((h) => h[name]).filter((x) => typeof x === "number");
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return typeof value === "number" && high > low ? (value - low) / (high - low) : 0;
}

/** @param {number} i */
function choose(i) {
  chosen = i;
  draw();
}

function drawMap() {
  const rows = [...new Set(audit.heads.map((h) => `${h.stack ?? "model"} ${h.layer}`))];
  const heads = Math.max(...audit.heads.map((h) => h.head)) + 1;
  const left = 34;
  const map = find("map");
  set(map, {
    viewBox: `0 0 ${left + heads * CELL} ${rows.length * CELL + 11}`,
    "aria-label": `${title(measure)} of every head: layers down, heads across`,
  });
  map.replaceChildren();
  rows.forEach((row, at) => {
    if (at % Math.ceil(rows.length / 12) !== 0) return;
    const label = make("text", { x: left - 4, y: at * CELL + 9.5, "text-anchor": "end" }, map);
    label.textContent = row.replace("model", "layer");
  });
  for (let h = 0; h < heads; h += Math.ceil(heads / 16)) {
    const place = { x: left + (h + 0.5) * CELL, y: rows.length * CELL + 8 };
    make("text", { ...place, "text-anchor": "middle" }, map).textContent = String(h);
  }
  audit.heads.forEach((head, i) => {
    const box = make("rect", {
      x: left + head.head * CELL + 0.5, y: rows.indexOf(`${head.stack ?? "model"} ${head.layer}`) * CELL + 0.5,
      width: CELL - 1, height: CELL - 1, rx: 2,
      "fill-opacity": 0.06 + 0.94 * place(measure, head[measure]),
      class: i === chosen ? "chosen" : "",
    }, map);
    make("title", {}, box).textContent = `${spoken(head)}: ${title(measure)} ${number(head[measure])}`;
    box.addEventListener("click", () => choose(i));
  });
}

function drawTable() {
  const columns = [measure, ...measures().filter((name) => name !== measure)].slice(0, MOST_COLUMNS);
  const top = element("tr");
  top.append(element("th", "head"));
  for (const name of columns) {
    const cell = element("th");
    if (name === measure) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const sort = element("button", title(name));
    sort.title = meaning(name);
    sort.addEventListener("click", () => {
      [falling, measure] = [name === measure ? !falling : true, name];
      draw();
    });
    cell.append(sort);
    top.append(cell);
  }
  // Heads on which it could not be measured come last, whichever way the table is sorted.
  const sign = falling ? -1 : 1;
  const worth = (/** @type {number} */ i) => {
    const value = audit.heads[i][measure];
    return typeof value === "number" ? sign * value : Infinity;
  };
  const order = audit.heads.map((_, i) => i).sort((i, j) => (worth(i) === worth(j) ? i - j : worth(i) - worth(j)));
  const [head, body] = [element("thead"), element("tbody")];
  head.append(top);
  body.append(...order.map((i) => tableRow(i, columns)));
  find("table").replaceChildren(head, body);
}

/** @param {number} i @param {string[]} columns */
function tableRow(i, columns) {
  const one = audit.heads[i];
  const row = element("tr", "", i === chosen ? "chosen" : "");
  const pick = element("button", `${one.stack && one.stack !== "model" ? `${one.stack} ` : ""}${one.layer}.${one.head}`);
  pick.setAttribute("aria-pressed", String(i === chosen));
  const first = element("td");
  first.append(pick);
  row.append(first, ...columns.map((name) => element("td", number(one[name]))));
  row.addEventListener("click", () => choose(i));
  return row;
}

function drawHead() {
  const one = audit.heads[chosen];
  const list = element("dl", "", "measures");
  for (const name of measures()) {
    const row = element("div");
    row.title = meaning(name);
    const strip = make("svg", { viewBox: "0 0 200 10", "aria-hidden": "true" });
    make("line", { class: "track", x1: 4, x2: 196, y1: 5, y2: 5 }, strip);
    const others = make("g", { class: "others" }, strip);
    const dots = join(others, audit.heads.length, () => make("circle", { r: 1.8, cy: 5 }));
    dots.forEach((dot, i) => set(dot, { cx: 4 + 192 * place(name, audit.heads[i][name]) }));
    if (typeof one[name] === "number") make("circle", { class: "here", r: 3.6, cy: 5, cx: 4 + 192 * place(name, one[name]) }, strip);
    const value = element("dd", number(one[name]));
    value.append(strip);
    row.append(element("dt", title(name)), value);
    list.append(row);
  }
  const words = [element("h2", spoken(one).replace(/^./, (c) => c.toUpperCase())), element("p", one.sentence ?? "", "sentence")];
  const hint = element("p", "Each strip shows this head (filled) among all others.", "hint");
  find("head").replaceChildren(...words, ...picture(one), list, hint);
}

/** @param {Head} one @returns {(HTMLElement | SVGElement)[]} */
function picture(one) {
  if (!one.picture?.length) return [];
  const map = make("svg", {
    viewBox: `0 0 ${one.picture[0].length} ${one.picture.length}`,
    preserveAspectRatio: "none",
    class: "weights",
    role: "img",
    "aria-label": "attention map: queries down, keys across",
  });
  one.picture.forEach((row, y) =>
    row.forEach((cell, x) => {
      if (cell) make("rect", { x, y, width: 1, height: 1, "fill-opacity": cell / 100 }, map);
    }),
  );
  return [map, element("p", "Weights, binned: queries down, keys across.", "hint")];
}

find("measure").addEventListener("change", () => {
  measure = find("measure").value;
  draw();
});
find("file").addEventListener("change", async () => {
  try {
    show(JSON.parse(await find("file").files[0].text()));
    find("fault").textContent = "";
  } catch (reason) {
    find("fault").textContent = /** @type {Error} */ (reason).message;
  }
});
theme();
show(JSON.parse(await load("data/cards.json")));
document.body.dataset.ready = "yes";
