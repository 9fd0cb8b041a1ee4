/**
 * The page inside another one, `?embed=plane`: the goal, the plane and its sliders, nothing else, and a way to the
 * whole lab.
 */
import { dress } from "../documents.js";
import { element } from "../drawing/draw.js";

/** @param {() => string} hash the state as it is */
export async function embed(hash) {
  document.body.classList.add("embedded");
  const link = Object.assign(document.createElement("a"), { target: "_blank", rel: "noopener", textContent: "Open in the lab" });
  const follow = () => void (link.href = location.href.replace(/[?#].*/, "") + hash());
  link.addEventListener("pointerenter", follow);
  link.addEventListener("focus", follow);
  follow();
  const line = element("p", "", "whole");
  line.append(link);
  document.querySelector("main")?.append(line);
  await dress("css/embed.css");
}
