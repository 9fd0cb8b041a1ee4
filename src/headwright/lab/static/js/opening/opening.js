/**
 * The opening: four short acts in a dialog, once for newcomers, later for whoever asks. Escape, "Skip" and the end close
 * it. Who wants no motion gets the four pictures one after the other, each as it ends.
 * @typedef {import("../state/state.js").Presets} Presets
 */
import { dress } from "../documents.js";
import { element } from "../drawing/draw.js";
import { remember } from "../memory.js";
import { acts, duration, shownAt } from "./acts.js";
import { createScene } from "./scene.js";

/** @type {Promise<void> | null} */
let dressed = null;

/** @param {Presets} presets */
export async function play(presets) {
  remember("opening", "seen");
  await (dressed ??= dress("css/opening.css"));
  const all = acts(presets);
  const scene = createScene(matchMedia("(max-width: 620px)").matches);
  const { dialog, title, words, count, dots, skip, next } = frame(scene.picture, all.length);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let at = 0;
  let began = 0;

  /** @param {number} number */
  const show = (number) => {
    at = number;
    began = performance.now();
    title.textContent = all[at].title;
    words.textContent = all[at].words;
    next.textContent = at === all.length - 1 ? "Start" : "Next";
    dots.forEach((dot, i) => dot.toggleAttribute("aria-current", i === at));
    if (still) draw(duration(all[at]));
  };

  /** @param {number} time of the act */
  const draw = (time) => {
    const act = all[at];
    const shown = shownAt(act, time);
    scene.draw(act, shown);
    count.textContent = shown >= 1 ? act.said(act.draws.slice(0, Math.floor(shown))) : "\u00a0";
  };

  /** @param {number} now */
  const frameOf = (now) => {
    if (!dialog.open || still) return;
    const time = now - began;
    draw(Math.max(time, 0));
    if (time > duration(all[at]) && at < all.length - 1) show(at + 1);
    requestAnimationFrame(frameOf);
  };

  next.addEventListener("click", () => (at === all.length - 1 ? dialog.close() : show(at + 1)));
  skip.addEventListener("click", () => dialog.close());
  dots.forEach((dot, i) => dot.addEventListener("click", () => show(i)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  show(0);
  dialog.showModal();
  next.focus();
  requestAnimationFrame(frameOf);
}

/** The dialog around the picture. @param {SVGElement} picture @param {number} acts */
function frame(picture, acts) {
  const dialog = document.createElement("dialog");
  dialog.id = "opening-dialog";
  dialog.className = "opening";
  dialog.setAttribute("aria-labelledby", "opening-title");
  const title = Object.assign(element("h2"), { id: "opening-title" });
  const words = element("p", "", "words");
  const count = element("p", "\u00a0", "count");
  const story = element("div", "", "story");
  story.setAttribute("aria-live", "polite");
  story.append(title, words);

  const dots = Array.from({ length: acts }, (_, i) => {
    const dot = element("button", "", "dot");
    dot.setAttribute("aria-label", `Act ${i + 1} of ${acts}`);
    return dot;
  });
  const row = element("div", "", "steps");
  const skip = element("button", "Skip");
  const next = element("button", "Next", "main");
  row.append(...dots, next, skip);
  dialog.append(story, picture, count, row);
  return { dialog, title, words, count, dots, skip, next };
}
