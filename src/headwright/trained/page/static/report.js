/** What moves on the page of an audit: the map, the table, the cards, all from the numbers in #audit. */
"use strict";

const audit = JSON.parse(document.getElementById("audit").textContent);
const heads = audit.heads.map(([stack, layer, head, sentence], i) => ({
  i, stack, layer, head, sentence, name: stack === "model" ? `${layer}.${head}` : `${stack} ${layer}.${head}`,
  id: `head-${stack}-${layer}-${head}`, why: audit.why[i] ?? "",
}));
const names = audit.measures.map((one) => one.name);
const about = Object.fromEntries(audit.measures.map((one) => [one.name, one]));
const find = (id) => document.getElementById(id);
const value = (name, i) => audit.numbers[name][i];
const FIRST_ROWS = 20;
const FEW_LINES = 6;

function short(x) {
  if (x === null || x === undefined) return "–";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return x.toExponential(1);
  return size >= 100 ? x.toFixed(0) : String(Number(x.toPrecision(3)));
}

// -------------------------------------------------------------------------------------------- where heads look

const looks = audit.looks ? unpackLooks(audit.looks, heads.map(({ stack }) => audit.passages[stack]?.places.length ?? 0)) : null;

function tokensOf(head, few) {
  const passage = audit.passages?.[head.stack];
  return passage && looks ? tokenView(passage, looks(head.i, passage.places), head.name, few) : "";
}

for (const place of document.querySelectorAll("[data-tokens]")) {
  place.replaceChildren(tokensOf(heads[Number(place.dataset.tokens)], FEW_LINES));
}

// -------------------------------------------------------------------------------------------- one head's card

const sheet = find("card");

function picture(head) {
  const packed = audit.pictures[head.i];
  if (!packed) return "";
  const [height, width, text] = packed;
  const canvas = make("canvas", { class: "weights", role: "img", "aria-label": `weights of head ${head.name}, binned: queries down, keys across` });
  Object.assign(canvas, { width, height });
  const cells = bytes(text);
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--key");
  for (let i = 0; i < width * height; i += 1) {
    context.globalAlpha = ((cells[i >> 1] >> (i & 1 ? 0 : 4)) & 15) / 15;
    context.fillRect(i % width, Math.floor(i / width), 1, 1);
  }
  return canvas;
}

function numbersOf(head) {
  const list = make("dl");
  for (const name of names) {
    if (value(name, head.i) === null) continue;
    const error = audit.errors[name]?.[head.i];
    const shown = short(value(name, head.i)) + (error ? ` ± ${short(error)}` : "");
    list.append(make("div", { title: about[name].meaning }, make("dt", {}, about[name].title), make("dd", {}, shown)));
  }
  return list;
}

function openCard(head) {
  const close = make("button", { type: "button", class: "plain" }, "Close");
  close.addEventListener("click", () => sheet.close());
  const top = make("div", { class: "top" }, picture(head),
    make("div", {}, make("h2", { id: "card-title" }, `Head ${head.name}`), make("p", {}, head.sentence), make("p", { class: "soft" }, head.why)));
  sheet.replaceChildren(close, top, tokensOf(head, FEW_LINES), numbersOf(head));
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
}

sheet.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());

const byId = new Map(heads.map((head) => [head.id, head]));
const openNamed = () => {
  const head = byId.get(decodeURIComponent(location.hash.slice(1)));
  if (head) openCard(head);
};
addEventListener("hashchange", openNamed);
openNamed();

// -------------------------------------------------------------------------------------------- maps

const lines = new Map();
for (const { stack, layer } of heads) if (!lines.has(`${stack} ${layer}`)) lines.set(`${stack} ${layer}`, lines.size);
const across = Math.max(...heads.map(({ head }) => head)) + 1;
const CELL = Math.max(11, Math.min(26, Math.floor(420 / Math.max(across, lines.size))));

function levels(name) {
  const known = audit.numbers[name].filter((x) => x !== null);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  // Shares are shown from 0 to 1, so that maps of two models can be compared.
  if (low >= 0 && high <= 1) [low, high] = [0, 1];
  if (low === high) high = low + 1;
  const middle = [...known].sort((a, b) => a - b)[Math.floor(known.length / 2)];
  return { at: (x) => 0.06 + (0.94 * (x - low)) / (high - low), said: known.length ? `${short(Math.min(...known))} to ${short(Math.max(...known))}, median ${short(middle)}` : "not measured" };
}

function bigMap(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const [width, height] = [across * CELL, lines.size * CELL];
  const level = levels(name);
  const settings = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", xmlns: space, fill: audit.ink, "aria-label": `${about[name].title}: ${level.said}` };
  for (const [key, x] of Object.entries(settings)) svg.setAttribute(key, x);
  for (const head of heads) {
    const x = value(name, head.i);
    if (x === null) continue;
    const cell = document.createElementNS(space, "rect");
    const at = { x: head.head * CELL, y: lines.get(`${head.stack} ${head.layer}`) * CELL, width: CELL - 1, height: CELL - 1, "fill-opacity": level.at(x).toFixed(2) };
    for (const [key, place] of Object.entries(at)) cell.setAttribute(key, place);
    const title = document.createElementNS(space, "title");
    title.textContent = `${head.name}: ${short(x)}`;
    cell.append(title);
    cell.addEventListener("click", () => { location.hash = head.id; });
    svg.append(cell);
  }
  return svg;
}

function smallMap(name) {
  const canvas = make("canvas", { role: "img", "aria-label": `${about[name].title}: ${levels(name).said}` });
  Object.assign(canvas, { width: across, height: lines.size });
  const context = canvas.getContext("2d");
  context.fillStyle = audit.ink;
  const level = levels(name);
  for (const head of heads) {
    const x = value(name, head.i);
    if (x === null) continue;
    context.globalAlpha = level.at(x);
    context.fillRect(head.head, lines.get(`${head.stack} ${head.layer}`), 1, 1);
  }
  const choose = make("button", { type: "button", class: "plain" }, about[name].title);
  choose.addEventListener("click", () => { pick.value = name; showMap(); find("map").scrollIntoView(); });
  return make("figure", {}, canvas, make("figcaption", {}, choose));
}

const pick = find("measure");
function showMap() {
  const one = about[pick.value];
  find("map").replaceChildren(bigMap(one.name));
  find("map-says").textContent = `${one.meaning ? `${one.title}: ${one.meaning}. ` : ""}${levels(one.name).said}.`;
}
pick.append(...audit.measures.map((one) => new Option(one.title, one.name)));
pick.value = audit.shown;
pick.addEventListener("change", showMap);
showMap();

find("all-maps").addEventListener("toggle", (event) => {
  const box = event.target.querySelector(".maps");
  if (!box.childElementCount) box.append(...names.map(smallMap));
});

find("save-map").addEventListener("click", () => {
  const link = make("a", { download: `${pick.value}.svg` });
  link.href = URL.createObjectURL(new Blob([find("map").innerHTML], { type: "image/svg+xml" }));
  link.click();
  URL.revokeObjectURL(link.href);
});

// -------------------------------------------------------------------------------------------- the table

const table = find("heads");
let order = audit.order;
let all = false;

function row(head) {
  const link = make("a", { href: `#${head.id}` }, head.name);
  const cells = names.map((name) => make("td", {}, short(value(name, head.i))));
  return make("tr", {}, make("th", { scope: "row" }, link), make("td", { class: "why" }, head.why), ...cells);
}

function fill() {
  const shown = all ? order : order.slice(0, FIRST_ROWS);
  table.tBodies[0].replaceChildren(...shown.map((i) => row(heads[i])));
}

function sort(header, compare) {
  const falling = header.getAttribute("aria-sort") !== "descending";
  for (const one of table.tHead.rows[0].cells) one.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", falling ? "descending" : "ascending");
  order = [...order].sort((a, b) => compare(a, b, falling));
  fill();
}

const byNumber = (name) => (a, b, falling) => {
  const [x, y] = [value(name, a), value(name, b)];
  if (x === null || y === null) return (x === null) - (y === null);  // what is not measured comes last, either way
  return falling ? y - x : x - y;
};
const byPlace = (a, b, falling) => (falling ? b - a : a - b);
const byWhy = (a, b, falling) => (falling ? -1 : 1) * heads[a].why.localeCompare(heads[b].why);

const columns = [["head", "layer.head", byPlace], ["what it is", "what stands out", byWhy], ...names.map((name) => [about[name].title, about[name].meaning, byNumber(name)])];
for (const [title, meaning, compare] of columns) {
  const header = make("th", { scope: "col", "aria-sort": "none", title: meaning });
  const button = make("button", { type: "button" }, title);
  button.addEventListener("click", () => sort(header, compare));
  header.append(button);
  table.tHead.rows[0].append(header);
}
fill();

const more = find("all-heads");
more.hidden = heads.length <= FIRST_ROWS;
more.addEventListener("click", () => {
  all = true;
  more.remove();
  fill();
});

document.body.dataset.ready = "";
