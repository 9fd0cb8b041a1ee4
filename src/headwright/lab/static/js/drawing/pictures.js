/**
 * The save buttons above every picture.
 * @typedef {import("../types.js").Model} Model
 */
import { element } from "./draw.js";
import { toast } from "../page.js";

/** @param {() => Model} model */
export function createSavers(model) {
  for (const host of document.querySelectorAll(".save")) {
    const name = /** @type {HTMLElement} */ (host).dataset.picture ?? "";
    for (const kind of ["SVG", "PNG"]) {
      const button = element("button", kind);
      button.setAttribute("type", "button");
      button.setAttribute("aria-label", `Save ${name} as ${kind}`);
      button.addEventListener("click", () => void save(name, kind, model()));
      host.append(button);
    }
  }
}

/** @param {string} name @param {string} kind @param {Model} model */
async function save(name, kind, model) {
  const { download, raster, standalone } = await import("./save.js");
  const id = name === "keys" && model.state.keys[0].length > 2 ? "logits" : name;
  const picture = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.getElementById(id)));
  const canvas = picture.parentElement?.querySelector("canvas");
  const svg = standalone(picture, points(canvas), canvas?.dataset.colour ?? "");
  const { width, height } = picture.viewBox.baseVal;
  const blob = kind === "SVG" ? new Blob([svg], { type: "image/svg+xml" }) : await raster(svg, 3 * width, 3 * height);
  download(blob, `headwright-${id}.${kind.toLowerCase()}`);
  toast(`Saved headwright-${id}.${kind.toLowerCase()}`);
}

/** The cloud as the canvas shows it. @param {HTMLCanvasElement | null | undefined} canvas */
function points(canvas) {
  return /** @type {any} */ (canvas)?.cloudPoints?.() ?? null;
}
