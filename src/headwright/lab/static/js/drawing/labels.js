/**
 * Names beside their marks. A name stands outwards, as seen from the middle, unless something is there: another name, a
 * mark, a line. Then it moves around its mark to the first free place, and takes the least bad one where none is free.
 * @typedef {{text: Element, at: number[], from: number[], width: number}} Name
 *   a text in the group of its mark, where the mark is, the point to look away from, and the width of the text
 * @typedef {[number, number, number, number]} Line  x1 y1 x2 y2
 * @typedef {{x: number, y: number, width: number, height: number}} Box  around its middle x y
 */
import { set } from "./draw.js";

const HEIGHT = 21; // of a name with its index
const BASELINE = 3.5; // below the middle of the box
const MARK = 19; // width and height of a mark with some air
const RINGS = [21, 27, 34];
const TURNS = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8].map((turn) => (turn * Math.PI) / 8);
// How bad it is to stand on a thing: on a name it is unreadable, on a line it is struck through.
const COST = { name: 4, outside: 4, mark: 2, line: 1 };

/** Width of a letter with its index. @param {string} index */
export const widthOf = (index) => 10 + 7 * index.length;

/** The edges of a closed polygon. @param {number[][]} corners @returns {Line[]} */
export const edges = (corners) => corners.map(([x, y], i) => {
  const [nextX, nextY] = corners[(i + 1) % corners.length];
  return [x, y, nextX, nextY];
});

/** @param {Box} a @param {Box} b */
const overlap = (a, b) => Math.abs(a.x - b.x) * 2 < a.width + b.width && Math.abs(a.y - b.y) * 2 < a.height + b.height;

/** No axis separates the line from the box. @param {Line} line @param {Box} box */
function crosses([x1, y1, x2, y2], box) {
  const dx = Math.abs(x2 - x1) / 2;
  const dy = Math.abs(y2 - y1) / 2;
  const mx = (x1 + x2) / 2 - box.x;
  const my = (y1 + y2) / 2 - box.y;
  const [w, h] = [box.width / 2, box.height / 2];
  if (Math.abs(mx) > w + dx || Math.abs(my) > h + dy) return false;
  return Math.abs(mx * (y2 - y1) - my * (x2 - x1)) / 2 <= w * dy + h * dx;
}

/** @param {Name[]} names @param {{marks: number[][], lines: Line[], size: number}} around what is in the picture, and its size */
export function placeNames(names, { marks, lines, size }) {
  /** @type {Box[]} */
  const placed = [];
  const boxes = marks.map(([x, y]) => ({ x, y, width: MARK, height: MARK }));

  /** @param {Box} box */
  const cost = (box) => {
    const inside = Math.abs(box.x - size / 2) * 2 < size - box.width && Math.abs(box.y - size / 2) * 2 < size - box.height;
    let sum = inside ? 0 : COST.outside;
    for (const other of placed) if (overlap(other, box)) sum += COST.name;
    for (const mark of boxes) if (overlap(mark, box)) sum += COST.mark;
    for (const line of lines) if (crosses(line, box)) sum += COST.line;
    return sum;
  };

  for (const { text, at, from, width } of names) {
    if (width === 0) continue;
    const outwards = at[0] === from[0] && at[1] === from[1] ? -Math.PI / 2 : Math.atan2(at[1] - from[1], at[0] - from[0]);
    const box = best(at, outwards, width, cost);
    placed.push(box);
    set(text, { x: box.x - at[0], y: box.y - at[1] + BASELINE, "text-anchor": "middle" });
  }
}

/** The first free place, ring by ring; the least bad one if there is none.
 * @param {number[]} at @param {number} outwards @param {number} width @param {(box: Box) => number} cost */
function best(at, outwards, width, cost) {
  let found = { x: at[0], y: at[1], width, height: HEIGHT };
  let least = Infinity;
  for (const ring of RINGS) {
    for (const turn of TURNS) {
      const angle = outwards + turn;
      const box = { x: at[0] + ring * Math.cos(angle), y: at[1] + ring * Math.sin(angle), width, height: HEIGHT };
      const price = cost(box);
      if (price === 0) return box;
      if (price < least) [found, least] = [box, price];
    }
  }
  return found;
}
