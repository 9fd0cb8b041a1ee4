/**
 * One state, its past and its future. A drag changes the state many times but becomes one step of history.
 * @typedef {import("../types.js").State} State
 */
const DEEPEST = 200;

/** @param {State} initial */
export function createStore(initial) {
  let state = initial;
  /** @type {State[]} */
  let past = [];
  /** @type {State[]} */
  let future = [];
  let settled = initial;
  /** @type {((state: State, kind: "change" | "commit") => void)[]} */
  const listeners = [];

  /** @param {"change" | "commit"} kind */
  const tell = (kind) => listeners.forEach((listen) => listen(state, kind));

  return {
    get: () => state,
    /** @param {(state: State, kind: "change" | "commit") => void} listen */
    subscribe: (listen) => void listeners.push(listen),
    /** Change without a step of history: the middle of a drag. @param {Partial<State>} patch */
    change(patch) {
      state = { ...state, ...patch };
      tell("change");
    },
    /** Change (or end a change) as one step of history. @param {Partial<State>} patch */
    commit(patch = {}) {
      if (Object.keys(patch).length > 0) state = { ...state, ...patch };
      if (state !== settled) {
        past = [...past.slice(-DEEPEST), settled];
        future = [];
        settled = state;
      }
      tell("commit");
    },
    undo() {
      const last = past.pop();
      if (!last) return;
      future.push(settled);
      state = settled = last;
      tell("commit");
    },
    redo() {
      const next = future.pop();
      if (!next) return;
      past.push(settled);
      state = settled = next;
      tell("commit");
    },
    canUndo: () => past.length > 0,
    canRedo: () => future.length > 0,
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
