/**
 * Python answers everything that is a result. Errors arrive as readable text; a static copy has no engine and
 * says so on every button that needs it.
 */
export const REASON = "This copy works without Python. Designs, exact numbers and verdicts need it: start `headwright lab`.";
let present = true;

/** @param {boolean} engine */
export function setEngine(engine) {
  present = engine;
  if (engine) return;
  for (const button of document.querySelectorAll("[data-engine]")) {
    /** @type {HTMLButtonElement} */ (button).disabled = true;
    button.setAttribute("title", REASON);
    const note = document.createElement("p");
    note.className = "hint";
    note.textContent = REASON;
    button.parentElement?.after(note);
  }
}

export const hasEngine = () => present;

/** @param {string} name @param {unknown} body @param {AbortSignal=} signal @returns {Promise<any>} */
export async function ask(name, body, signal) {
  if (!present) throw new Error(REASON);
  let response;
  try {
    response = await fetch(`api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (reason) {
    if (signal?.aborted) throw reason;
    throw new Error("the engine did not answer; start `headwright lab` again");
  }
  const answer = await response.json().catch(() => ({ error: `the engine answered ${response.status} without a message` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
