/** Pictures as files. The SVG carries its own colours and the cloud as circles, so it looks the same anywhere. */
import { make } from "./draw.js";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "paint-order", "opacity",
  "font-family", "font-size", "font-style", "font-weight", "display",
];

/** @param {SVGSVGElement} picture @param {Float64Array | null} cloud picture coordinates, x y x y ... @param {string} colour */
export function standalone(picture, cloud, colour) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const [from, to] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) to[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role", "aria-roledescription", "data-text"]) to[i].removeAttribute(name);
  });
  const { width, height } = picture.viewBox.baseVal;
  const outer = { xmlns: "http://www.w3.org/2000/svg", width: width * 2, height: height * 2 };
  for (const [name, value] of Object.entries(outer)) copy.setAttribute(name, String(value));
  const dots = make("g", { fill: colour, "fill-opacity": 0.45 });
  for (let i = 0; cloud && i < cloud.length; i += 2) make("circle", { cx: cloud[i], cy: cloud[i + 1], r: 0.8 }, dots);
  copy.prepend(make("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }), dots);
  return new XMLSerializer().serializeToString(copy);
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {string} svg @param {number} width @param {number} height @returns {Promise<Blob>} */
export async function raster(svg, width, height) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(address);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}
