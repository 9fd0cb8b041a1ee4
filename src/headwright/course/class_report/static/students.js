"use strict";
// Search and sort the table of students. Without a script the page is complete, and unsorted.

{
  const table = document.querySelector("table.students");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const signs = "✓◐✗–?";

  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const names = new Map(rows.map((row) => [row, folded(row.cells[0].textContent)]));

  function filter() {
    const words = folded(search.value).split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => names.get(row).includes(word));
    const left = rows.filter((row) => !row.hidden).length;
    shown.textContent = left === rows.length ? "" : `${left} of ${rows.length}`;
  }

  // What a cell is sorted by: a name, a number, or the place of its sign in the legend
  function key(row, column) {
    const text = row.cells[column].textContent;
    if (column === 0) return names.get(row);
    const place = text ? signs.indexOf(text[0]) : signs.length;
    return place >= 0 && column > 2 ? place : parseFloat(text) || 0;
  }

  function sort(heading, column) {
    const up = heading.ariaSort !== "ascending";
    const compare = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
    rows.sort((one, other) => compare(key(one, column), key(other, column)) * (up ? 1 : -1));
    for (const other of heading.parentNode.cells) other.ariaSort = "none";
    heading.ariaSort = up ? "ascending" : "descending";
    body.append(...rows);
  }

  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading, column));
    heading.append(button);
    heading.ariaSort = "none";
  });
  search.addEventListener("input", filter);
  document.getElementById("searching").hidden = false;
}
