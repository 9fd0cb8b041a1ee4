/**
 * What the share menu copies: a link to the state, the same state as a Python program, or a frame with the plane for a
 * page of one's own.
 * @typedef {import("../types.js").State} State
 */
import { copy } from "../page.js";
import { toPython } from "../state/python.js";

// The plane, the goal and the sliders at the width of a text column, without a scroll bar
const FRAME_HEIGHT = 640;

/** @param {"link" | "python" | "frame"} kind @param {State} state @param {string} hash @param {string} title */
export function share(kind, state, hash, title) {
  if (kind === "link") return copy(new URL(hash, location.href).href, "Link copied");
  if (kind === "python") return copy(toPython(state), "Python program copied");
  const said = served() ? "Copied. Put an exported lab beside your page: headwright lab --export lab" : "Frame copied";
  return copy(frame(hash, title), said);
}

/** The lab of this machine shows itself in no other page; a copy made by --export does. */
const served = () => ["127.0.0.1", "localhost"].includes(location.hostname);

/** @param {string} hash @param {string} title */
export function frame(hash, title) {
  const page = served() ? "lab/index.html" : location.href.replace(/[?#].*/, "");
  const source = escape(`${page}?embed=plane${hash}`);
  return `<iframe src="${source}" title="${escape(title)}" width="100%" height="${FRAME_HEIGHT}" loading="lazy"></iframe>`;
}

/** @param {string} text */
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
