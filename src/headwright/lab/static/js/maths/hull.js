/**
 * The convex hull of points in the plane. Its strict corners are the keys that can win: some query scores them
 * above all others. A key inside, on an edge or doubled can never win alone.
 * @typedef {import("../types.js").Matrix} Matrix
 */

/** @param {number[]} o @param {number[]} a @param {number[]} b */
function turn(o, a, b) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

/** Indices of the strict corners, counter-clockwise (Andrew's monotone chain).
 * @param {Matrix} points @returns {number[]} */
export function hull(points) {
  const order = points.map((_, i) => i);
  order.sort((i, j) => points[i][0] - points[j][0] || points[i][1] - points[j][1]);
  const distinct = order.filter(
    (i, at) => at === 0 || points[i].some((x, axis) => x !== points[order[at - 1]][axis]),
  );
  if (distinct.length < 3) return distinct;
  /** @param {number[]} side */
  const chain = (side) => {
    /** @type {number[]} */
    const kept = [];
    for (const i of side) {
      while (kept.length > 1) {
        const [o, a] = kept.slice(-2);
        if (turn(points[o], points[a], points[i]) > 0) break;
        kept.pop();
      }
      kept.push(i);
    }
    return kept.slice(0, -1);
  };
  return [...chain(distinct), ...chain(distinct.slice().reverse())];
}

/** Which keys some query can copy. @param {Matrix} points @returns {boolean[]} */
export function reachable(points) {
  const corners = new Set(hull(points));
  const doubled = (/** @type {number} */ i) =>
    points.some((p, j) => j !== i && p[0] === points[i][0] && p[1] === points[i][1]);
  return points.map((_, i) => corners.has(i) && !doubled(i));
}
