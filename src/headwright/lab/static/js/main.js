/**
 * The plane page: one state, one frame. A change is drawn in the next animation frame; a commit also goes to
 * the address bar and to the engine.
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Model} Model
 */
import { createBars } from "./drawing/bars.js";
import { element } from "./drawing/draw.js";
import { createHistogram } from "./drawing/histogram.js";
import { createKeyPlane } from "./drawing/keyplane.js";
import { createSavers } from "./drawing/pictures.js";
import { createValuePlane } from "./drawing/valueplane.js";
import { load } from "./documents.js";
import { setEngine } from "./engine.js";
import { derive } from "./maths/model.js";
import { recall } from "./memory.js";
import { point, short } from "./numbers.js";
import { theme, toast } from "./page.js";
import { createControls } from "./panels/controls.js";
import { createExact } from "./panels/exact.js";
import { createStations, startHash } from "./panels/stations.js";
import { setLimits } from "./state/limits.js";
import { fromHash, InputError, toHash } from "./state/state.js";
import { createStore } from "./state/store.js";

const CALM = 600; // ms in which the page is only itself before the opening starts
const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

const site = JSON.parse(await load("data/site.json"));
/** @type {import("./state/state.js").Presets} */
const presets = site.presets;
setEngine(site.engine);
setLimits(site.limits);

/** The state an address means; an unreadable one says why and falls back. @param {string} hash @returns {State} */
function stateOf(hash) {
  const first = startHash(site.stations, 1);
  try {
    const state = fromHash(hash.includes("=") ? hash : first, presets);
    const last = site.stations.length;
    if (state.station > last) throw new InputError(`a station between 1 and ${last}`, `${state.station}`, `#station=${last}`);
    return state;
  } catch (reason) {
    toast(/** @type {Error} */ (reason).message);
    return fromHash(first, presets);
  }
}

const embedded = new URLSearchParams(location.search).has("embed");
const bare = !location.hash.includes("=") && !embedded;
const store = createStore(stateOf(location.hash));
const hash = () => toHash(store.get(), presets);
if (embedded) await (await import("./panels/embed.js")).embed(hash);
const keys = createKeyPlane(find("keys"), store);
/** Keys of more than two dimensions are shown through their logits; that picture is fetched with the first of them.
 * @type {ReturnType<import("./drawing/logitplane.js").createLogitPlane> | null} */
let logits = null;
const values = createValuePlane(find("values"), find("cloud"), store);
const single = createValuePlane(find("single"), find("single-cloud"), store);
const bars = createBars(find("weights"), (focus) => store.commit({ focus }));
const histogram = createHistogram(find("histogram"));
const stations = createStations(site.stations, presets, store);
const controls = createControls(store, presets, (preset) => store.commit({ ...presets[preset], station: store.get().station }));
const exact = createExact((moments, alone) => {
  values.exact(moments);
  single.exact(alone);
  schedule();
});

/** @type {Model} */
let model = derive(store.get());
let scheduled = false;
/** What stands below the plane is fetched when it is first seen, and drawn while it is.
 * @param {string} id @param {() => Promise<{draw: (model: Model) => void}>} create */
function whenSeen(id, create) {
  let seen = false;
  /** @type {{draw: (model: Model) => void} | null} */
  let part = null;
  new IntersectionObserver(async ([entry]) => {
    seen = entry.isIntersecting;
    if (seen) part ??= await create();
    schedule();
  }).observe(find(id));
  return { draw: (/** @type {Model} */ now) => void (seen && part?.draw(now)) };
}
const depends = whenSeen("depends", async () => {
  const { createDependency } = await import("./drawing/dependency.js");
  return createDependency(find("depends"), find("depends-reading"));
});
const design = whenSeen("design", async () => {
  const { createDesign } = await import("./panels/design.js");
  return createDesign(store, (proof) => {
    keys.prove(proof);
    schedule();
  });
});
let fitted = "";

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

function frame() {
  scheduled = false;
  const begin = performance.now();
  const { state } = model;
  const planar = isPlanar(state);
  find("keys").classList.toggle("hidden", !planar);
  find("logits").classList.toggle("hidden", planar);
  find("keys-title").textContent = planar ? "Keys and queries" : `Logits, d = ${state.keys[0].length}`;
  find("values-title").textContent = model.single ? `${state.directions.length} heads` : "Values and output";
  find("single-figure").classList.toggle("hidden", !model.single);
  if (planar) keys.draw(model);
  else logits?.draw(model);
  values.draw(model);
  if (model.single) single.draw(model.single);
  bars.draw(model);
  histogram.draw(model);
  depends.draw(model);
  readings();
  controls.draw(model);
  design.draw(model);
  stations.draw(model);
  performance.measure("frame", { start: begin, end: performance.now() });
}

function readings() {
  const { state, mixed } = model;
  const top = mixed.indexOf(Math.max(...mixed));
  line("keys-reading", ["largest weight ", `${short(mixed[top])}`, ` on key ${state.names[top]}`]);
  for (const [id, m] of /** @type {[string, Model | null][]} */ ([["values-reading", model], ["single-reading", model.single]])) {
    if (!m) continue;
    const first = point(m.output.slice(0, 3), 3);
    const shown = m.output.length > 3 ? first.replace(")", ", …)") : first;
    line(id, ["c = ", shown, m.cloud ? `, ${m.cloud.samples} draws` : ""]);
  }
}

/** @param {string} id @param {string[]} words the second one is the number */
function line(id, [before, number, after]) {
  const host = find(id);
  if (!host.firstChild) host.append("", element("b"), "");
  [host.childNodes[0].textContent, host.childNodes[1].textContent, host.childNodes[2].textContent] = [before, number, after];
}

const isPlanar = (/** @type {State} */ state) => state.keys[0].length === 2;

async function showLogits() {
  if (logits || isPlanar(store.get())) return;
  const { createLogitPlane } = await import("./drawing/logitplane.js");
  logits ??= createLogitPlane(find("logits"), store);
  logits.fit(model);
  schedule();
}

/** Fit the windows again when another setting is shown, or when a point has left. */
function fit() {
  const { state } = model;
  const now = `${state.preset}/${state.station}/${state.keys.length}`;
  const always = now !== fitted;
  fitted = now;
  keys.fit(state, always);
  logits?.fit(model);
  values.fit(state, always);
  single.fit(state, always);
}

store.subscribe((state, kind) => {
  const began = performance.now();
  model = derive(state, kind === "commit");
  performance.measure("derive", { start: began, end: performance.now() });
  keys.prove(null);
  if (kind === "commit") {
    fit();
    void showLogits();
    const written = hash();
    if (written !== location.hash) history.replaceState(null, "", written);
    find("undo").disabled = !store.canUndo();
    find("redo").disabled = !store.canRedo();
  }
  exact.update(model);
  schedule();
});

addEventListener("hashchange", () => {
  if (location.hash.includes("=") && location.hash !== hash()) store.commit(stateOf(location.hash));
});
find("undo").addEventListener("click", store.undo);
find("redo").addEventListener("click", store.redo);
find("reset").addEventListener("click", () => {
  const { station, preset } = store.get();
  store.commit(station ? stateOf(startHash(site.stations, station)) : { ...presets[preset] });
});
for (const kind of /** @type {const} */ (["link", "python", "frame"])) {
  find(`copy-${kind}`).addEventListener("click", async () => {
    const { share } = await import("./panels/share.js");
    const { station, preset } = store.get();
    const title = site.stations[station - 1]?.title ?? site.presets[preset].title;
    await share(kind, store.get(), hash(), title);
  });
}
/** @type {typeof import("./state/owndata.js").read} */
let read;
find("own-data").addEventListener("click", async () => {
  ({ read } = await import("./state/owndata.js"));
  find("data-dialog").showModal();
});
find("data-use").addEventListener("click", () => {
  try {
    store.commit(read(find("data-text").value, store.get()));
    find("data-dialog").close();
    find("data-fault").textContent = "";
  } catch (reason) {
    find("data-fault").textContent = /** @type {Error} */ (reason).message;
  }
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target instanceof HTMLTextAreaElement) return;
  const wanted = { z: event.shiftKey ? store.redo : store.undo, y: store.redo }[event.key.toLowerCase()];
  if (!wanted) return;
  event.preventDefault();
  wanted();
});

/** The canvas knows no CSS: it is told its size and colour. */
function dress() {
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--noise").trim();
  for (const canvas of [find("cloud"), find("single-cloud")]) {
    const size = Math.round((canvas.clientWidth || 400) * (devicePixelRatio || 1));
    if (canvas.width !== size) canvas.width = canvas.height = size;
    canvas.dataset.colour = colour;
  }
  schedule();
}
const resized = new ResizeObserver(dress);
for (const canvas of [find("cloud"), find("single-cloud")]) resized.observe(canvas);
theme(dress);
createSavers(() => model);
store.commit();
await showLogits();
document.body.dataset.ready = "yes";

/** Four acts of a few seconds; a newcomer sees them once, when the page is ready, and anybody who asks. */
async function opening() {
  const { play } = await import("./opening/opening.js");
  await play(presets);
}
find("opening").addEventListener("click", opening);
if (bare && !recall("opening")) setTimeout(opening, CALM);
