/**
 * The check page: text goes to the engine, verdicts come back with the places they speak about. The pasted text is
 * only ever put into text nodes.
 * @typedef {{start: number, end: number, line_start: number, line_end: number}} Span
 * @typedef {{
 *   question: string, answer: string | null, status: string, reason: string, repair: string | null,
 *   counterexample: {[name: string]: unknown} | null, span: Span | null, steps?: Verdict[], remarks?: string[],
 *   shown: {answer: string, counterexample: string},
 * }} Verdict
 */
import { planeLink } from "./panels/counterexample.js";
import { element } from "./drawing/draw.js";
import { load } from "./documents.js";
import { ask, setEngine } from "./engine.js";
import { recall, remember } from "./memory.js";
import { theme } from "./page.js";
import { setLimits } from "./state/limits.js";

const EXAMPLE = `# Attention exploration

(b) ii. Choose $q = \\frac{1}{2}(k_a + k_b)$. Then both keys score the same and $c \\approx \\frac{1}{2}(v_a + v_b)$.

(c) i. $q = \\beta (\\mu_a + \\mu_b)$ with $\\beta \\gg 0$.

(d) i. $q_1 = \\beta(\\mu_a + \\mu_b)$, $q_2 = \\beta(\\mu_a - \\mu_b)$, $\\beta \\gg 0$.
`;
const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const site = JSON.parse(await load("data/site.json"));
setLimits(site.limits);
setEngine(site.engine);
theme();

/** @param {boolean} marked show the marked text instead of the field */
function view(marked) {
  find("marked").classList.toggle("hidden", !marked);
  find("edit").classList.toggle("hidden", !marked);
  find("text").classList.toggle("hidden", marked);
}

/** The text with every span marked; offsets count characters, not UTF-16 units.
 * @param {string} text @param {{verdict: Verdict, at: number}[]} placed */
function mark(text, placed) {
  const characters = Array.from(text);
  const slice = (/** @type {number} */ a, /** @type {number} */ b) => characters.slice(a, b).join("");
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let done = 0;
  const start = (/** @type {{verdict: Verdict}} */ { verdict }) => /** @type {Span} */ (verdict.span).start;
  const spans = placed.filter(({ verdict }) => verdict.span).sort((a, b) => start(a) - start(b));
  for (const { verdict, at } of spans) {
    const { start, end } = /** @type {Span} */ (verdict.span);
    if (start < done) continue;
    const piece = element("mark", slice(start, end), verdict.status);
    piece.id = `span-${at}`;
    parts.push(slice(done, start), piece);
    done = end;
  }
  find("marked").replaceChildren(...parts, slice(done, characters.length));
}

/** Markup that the engine made, the same as on the pages of `headwright check --html`; scripts in it would not run.
 * The server forbids styles in markup, so they are set one by one.
 * @param {string} made @param {string} name */
function markup(made, name) {
  const host = element("div", "", name);
  const unstyled = made.replaceAll(' style="', ' data-style="');
  host.append(...new DOMParser().parseFromString(unstyled, "text/html").body.childNodes);
  for (const part of host.querySelectorAll("[data-style]")) {
    const drawn = /** @type {HTMLElement} */ (part);
    drawn.style.cssText = drawn.dataset.style ?? "";
  }
  return host;
}

/** What each question asks, by its id. @type {{[question: string]: string}} */
let titles = {};

/** @param {Verdict} verdict @param {number} at @returns {HTMLElement} */
function card(verdict, at) {
  const host = element("article", "", `verdict ${verdict.status}`);
  const top = element("header");
  top.append(element("h2", titles[verdict.question] ?? verdict.question), element("span", verdict.status, "status"));
  if (verdict.span) {
    const link = Object.assign(document.createElement("a"), {
      href: `#span-${at}`,
      textContent: `line ${verdict.span.line_start}`,
      className: "where",
    });
    link.addEventListener("click", () => {
      for (const lit of document.querySelectorAll("mark.lit")) lit.classList.remove("lit");
      document.getElementById(`span-${at}`)?.classList.add("lit");
    });
    top.append(link);
  }
  host.append(top);
  if (verdict.answer) host.append(markup(verdict.shown.answer, "read"));
  if (verdict.reason) host.append(element("p", verdict.reason));
  if (verdict.counterexample) host.append(...counter(verdict.counterexample, verdict.shown.counterexample));
  if (verdict.repair) host.append(element("p", `Repair: ${verdict.repair}`, "repair"));
  for (const remark of verdict.remarks ?? []) host.append(element("p", remark, "soft"));
  if (verdict.steps?.length) {
    const more = element("details");
    more.append(element("summary", `${verdict.steps.length} steps`), ...verdict.steps.map((step, i) => card(step, at * 1000 + i)));
    host.append(more);
  }
  return host;
}

/** @param {{[name: string]: unknown}} example @param {string} made @returns {HTMLElement[]} */
function counter(example, made) {
  const more = element("details");
  more.append(element("summary", "Counterexample"), markup(made, "example"));
  const hash = planeLink(example);
  if (!hash) return [more];
  const line = element("p");
  const link = Object.assign(document.createElement("a"), {
    href: `index.html${hash}`,
    textContent: "See the counterexample in the plane",
  });
  line.append(link);
  return [more, line];
}

/** @param {Verdict[]} verdicts */
function tally(verdicts) {
  const line = element("p", "", "tally");
  for (const status of ["correct", "incomplete", "wrong", "unread", "missing"]) {
    const count = verdicts.filter((v) => v.status === status).length;
    if (!count) continue;
    const part = element("span", "", `status ${status}`);
    part.append(element("b", String(count)), ` ${status}`);
    line.append(part);
  }
  return line;
}

/** What to do when no answer was found: an empty pane would say less. */
function nothing() {
  const host = element("article", "", "verdict unread");
  const top = element("header");
  top.append(element("h2", "No answer was recognised in this text"));
  host.append(
    top,
    element("p", "Nothing in it reads as an answer to one of the questions, so nothing was judged."),
    element("p", "Name the question and write the formula, as in the line below; the button “An example” fills in a whole sheet.", "soft"),
    element("code", "(c) i. $q = \\beta(\\mu_a + \\mu_b)$ with $\\beta \\gg 0$", "read"),
  );
  return host;
}

async function judge() {
  const text = find("text").value;
  find("fault").textContent = "";
  if (!text.trim()) {
    find("fault").textContent = "wanted an answer; got an empty page; try: paste one, or the example";
    return;
  }
  find("judge").disabled = true;
  try {
    const report = await ask("check", { text });
    /** @type {Verdict[]} */
    const verdicts = report.verdicts;
    titles = report.titles;
    const shown = verdicts.filter((v) => v.status !== "missing");
    const missing = verdicts.filter((v) => v.status === "missing").map((v) => titles[v.question] ?? v.question);
    mark(report.text, shown.map((verdict, at) => ({ verdict, at })));
    const lines = shown.length ? [tally(verdicts), ...shown.map(card)] : [nothing()];
    if (missing.length) lines.push(element("p", `Not found in the text: ${missing.join("; ")}.`, "hint"));
    for (const note of report.notes ?? []) lines.push(element("p", note, "hint"));
    find("verdicts").replaceChildren(...lines);
    view(true);
  } catch (reason) {
    find("fault").textContent = /** @type {Error} */ (reason).message;
  } finally {
    find("judge").disabled = !site.engine;
  }
}

/** Another text in the field. @param {string} text */
function write(text) {
  find("text").value = text;
  view(false);
  keep();
}

/** The text survives a reload, in this tab only: answers are private. */
function keep() {
  remember("answer", find("text").value, "sessionStorage");
  find("clear").disabled = find("text").value === "";
}

const HINT = find("verdicts").firstElementChild;
function clear() {
  write("");
  find("fault").textContent = "";
  find("verdicts").replaceChildren(HINT);
  find("text").focus();
}

/** @param {File | undefined} file */
async function open(file) {
  if (file) write(await file.text());
}

find("judge").addEventListener("click", judge);
find("edit").addEventListener("click", () => view(false));
find("clear").addEventListener("click", clear);
find("text").addEventListener("input", keep);
find("example").addEventListener("click", () => write(EXAMPLE));
find("file").addEventListener("change", () => open(find("file").files[0]));
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
    if (kind === "drop") void open(/** @type {DragEvent} */ (event).dataTransfer?.files[0]);
  });
}
write(recall("answer", "sessionStorage") ?? "");
document.body.dataset.ready = "yes";
