/**
 * The cards page: the audit's table, a map of layers and heads, and one card per head with its place among all.
 * @typedef {{[measure: string]: any, layer: number, head: number}} Head
 * @typedef {{model: string, about?: string, heads: Head[], measures?: {[name: string]: string}}} Audit
 */
import { short } from "./controls.js";
import { element, join, make, set } from "./draw.js";
import { theme } from "./page.js";

const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const MOST_COLUMNS = 7;

/** @type {Audit} */
let audit = { model: "", heads: [] };
let [measure, falling, chosen] = ["", true, 0];

/** Measures are the columns that hold numbers. @returns {string[]} */
function measures() {
  const names = Object.keys(audit.heads[0] ?? {}).filter((name) => name !== "layer" && name !== "head");
  return names.filter((name) => audit.heads.some((h) => typeof h[name] === "number"));
}

const spoken = (/** @type {string} */ name) => name.replaceAll("_", " ");

/** @param {Audit} next */
function show(next) {
  if (!Array.isArray(next?.heads) || !next.heads.length || !next.heads.every((h) => Number.isInteger(h?.layer) && Number.isInteger(h?.head))) {
    throw new Error("wanted an audit with heads; got something else; try: headwright audit MODEL --json > audit.json");
  }
  audit = next;
  measure = measures()[0] ?? "";
  chosen = 0;
  find("about").textContent = `${audit.heads.length} heads of ${audit.model || "a model"}. ${audit.about ?? ""}`;
  find("measure").replaceChildren(...measures().map((name) => new Option(spoken(name), name)));
  draw();
}

function draw() {
  find("measure").value = measure;
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
  const layers = Math.max(...audit.heads.map((h) => h.layer)) + 1;
  const heads = Math.max(...audit.heads.map((h) => h.head)) + 1;
  const [cell, left] = [14, 26];
  const map = find("map");
  set(map, { viewBox: `0 0 ${left + heads * cell} ${layers * cell + 12}`, "aria-label": `${spoken(measure)} of every head: layers down, heads across` });
  map.replaceChildren();
  for (let l = 0; l < layers; l++) make("text", { x: left - 4, y: l * cell + 10, "text-anchor": "end" }, map).textContent = l % Math.ceil(layers / 12) ? "" : `layer ${l}`.replace("layer ", l ? "" : "layer ");
  for (let h = 0; h < heads; h += Math.ceil(heads / 12)) make("text", { x: left + h * cell + 7, y: layers * cell + 9, "text-anchor": "middle" }, map).textContent = String(h);
  audit.heads.forEach((head, i) => {
    const box = make("rect", {
      x: left + head.head * cell + 0.5, y: head.layer * cell + 0.5, width: cell - 1, height: cell - 1, rx: 2,
      "fill-opacity": 0.06 + 0.94 * place(measure, head[measure]), class: i === chosen ? "chosen" : "",
    }, map);
    make("title", {}, box).textContent = `layer ${head.layer} head ${head.head}: ${spoken(measure)} ${number(head[measure])}`;
    box.addEventListener("click", () => choose(i));
  });
}

const number = (/** @type {unknown} */ x) => (typeof x === "number" ? short(x) : String(x ?? "–"));

function drawTable() {
  const columns = [measure, ...measures().filter((name) => name !== measure)].slice(0, MOST_COLUMNS);
  const head = element("tr");
  head.append(element("th", "head"));
  for (const name of columns) {
    const cell = element("th");
    if (name === measure) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const sort = element("button", spoken(name));
    sort.addEventListener("click", () => {
      [falling, measure] = [name === measure ? !falling : true, name];
      draw();
    });
    cell.append(sort);
    head.append(cell);
  }
  const order = audit.heads.map((_, i) => i).sort((i, j) => (falling ? -1 : 1) * (Number(audit.heads[i][measure]) - Number(audit.heads[j][measure])) || i - j);
  const rows = order.map((i) => {
    const row = element("tr");
    const one = audit.heads[i];
    row.setAttribute("aria-selected", String(i === chosen));
    const link = Object.assign(document.createElement("a"), { href: "#head", textContent: `${one.layer}.${one.head}` });
    link.setAttribute("aria-label", `layer ${one.layer} head ${one.head}`);
    const first = element("td");
    first.append(link);
    row.append(first, ...columns.map((name) => element("td", number(one[name]))));
    row.addEventListener("click", () => choose(i));
    return row;
  });
  const [top, body] = [element("thead"), element("tbody")];
  top.append(head);
  body.append(...rows);
  find("table").replaceChildren(top, body);
}

function drawHead() {
  const one = audit.heads[chosen];
  const list = element("dl", "", "measures");
  for (const name of measures()) {
    const row = element("div");
    const strip = make("svg", { viewBox: "0 0 200 10", "aria-hidden": "true" });
    make("line", { class: "track", x1: 4, x2: 196, y1: 5, y2: 5 }, strip);
    const others = make("g", { class: "others" }, strip);
    join(others, audit.heads.length, () => make("circle", { r: 2, cy: 5 })).forEach((dot, i) => set(dot, { cx: 4 + 192 * place(name, audit.heads[i][name]) }));
    make("circle", { class: "here", r: 4, cy: 5, cx: 4 + 192 * place(name, one[name]) }, strip);
    row.append(element("dt", spoken(name)), element("dd", number(one[name])), strip);
    if (audit.measures?.[name]) row.title = audit.measures[name];
    list.append(row);
  }
  const words = Object.entries(one).filter(([, x]) => typeof x === "string").map(([, x]) => element("p", x));
  find("head").replaceChildren(element("h2", `Layer ${one.layer}, head ${one.head}`), ...words, list, element("p", "Each strip shows this head (filled) among all others.", "hint"));
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
show(await (await fetch("data/cards.json")).json());
document.body.dataset.ready = "yes";
