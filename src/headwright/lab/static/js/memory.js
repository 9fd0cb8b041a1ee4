/**
 * What the browser keeps for the reader: for good (the theme, stations done), or for this tab (a pasted answer). In a
 * frame or a private window it may keep nothing; the pages then work all the same.
 */

/** @param {string} name @param {"localStorage" | "sessionStorage"} where @returns {string | null} */
export function recall(name, where = "localStorage") {
  try {
    return window[where].getItem(`headwright-${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} text empty to forget it @param {"localStorage" | "sessionStorage"} where */
export function remember(name, text, where = "localStorage") {
  try {
    if (text) window[where].setItem(`headwright-${name}`, text);
    else window[where].removeItem(`headwright-${name}`);
  } catch {
    // Nothing is lost but the memory.
  }
}
