/**
 * The page's data and style sheets, by their address. The server answers for them; an exported page carries them
 * inside, because a page opened from a file may fetch nothing (see packed.js).
 */
const packed = () => /** @type {{[path: string]: string} | undefined} */ (/** @type {any} */ (globalThis).headwrightDocuments);

/** @param {string} path @returns {Promise<string>} */
export async function load(path) {
  const inside = packed();
  return inside ? inside[path] : (await fetch(path)).text();
}

/** A style sheet that only some visitors need; resolves when it applies. @param {string} path @returns {Promise<void>} */
export async function dress(path) {
  const inside = packed();
  if (inside) {
    document.head.append(Object.assign(document.createElement("style"), { textContent: inside[path] }));
    return;
  }
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: path });
  await new Promise((resolve) => {
    sheet.onload = sheet.onerror = resolve;
    document.head.append(sheet);
  });
}
