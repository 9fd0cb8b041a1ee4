/** What every page has: the theme and a short message at the foot. */
import { recall, remember } from "./memory.js";

const find = (/** @type {string} */ id) => document.getElementById(id);

/** @param {string} text */
export function toast(text) {
  const line = find("toast");
  if (!line) return;
  line.textContent = text;
  line.classList.add("shown");
  setTimeout(() => line.classList.remove("shown"), 2600);
}

/** @param {() => void} changed */
export function theme(changed = () => {}) {
  const root = document.documentElement;
  const kept = recall("theme");
  if (kept) root.dataset.theme = kept;
  find("theme")?.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("theme", root.dataset.theme);
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** @param {string} text @param {string} said */
export async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast("The browser did not allow copying; the address bar has the link.");
  }
}
