"""Names in the pictures can be read: in every setting and at every station, on a phone and at a
desk, none lies on another or is struck through by a line."""

import pytest

from headwright.lab.presets import presets
from headwright.lab.stations import lab_stations

pytestmark = pytest.mark.browser

# Boxes of names as they are on the screen. A line of text is higher than its letters: a fifth is
# air.
FAULTS = """() => {
  const faults = [];
  const shown = (node) => node.getClientRects().length > 0 && node.textContent.trim() !== "";
  for (const picture of document.querySelectorAll("#keys, #logits, #values, #single")) {
    if (picture.getClientRects().length === 0) continue;
    const names = [...picture.querySelectorAll("text.label")].filter(shown).map((text) => {
      const box = text.getBoundingClientRect();
      const air = box.height / 5;
      const [left, right] = [box.left + 1, box.right - 1];
      const [top, bottom] = [box.top + air, box.bottom - air / 2];
      return { what: `${picture.id} ${text.textContent}`, left, right, top, bottom };
    });
    const halo = [...picture.querySelectorAll("g:not(.labels) > text.label")]
      .every((text) => getComputedStyle(text).paintOrder.startsWith("stroke"));
    if (!halo) faults.push(`lines go through names in ${picture.id}`);
    names.forEach((a, i) => names.slice(i + 1).forEach((b) => {
      const apart = a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
      if (!apart) faults.push(`${a.what} lies on ${b.what}`);
    }));
    for (const line of strokes(picture)) {
      const struck = names.filter((name) => line.some((p) => inside(p, name)));
      for (const name of struck) faults.push(`${name.what} is struck through`);
    }
    const frame = picture.getBoundingClientRect();
    for (const name of names) {
      const beside = name.left < frame.left || name.right > frame.right;
      const above = name.top < frame.top || name.bottom > frame.bottom;
      if (beside || above) faults.push(`${name.what} leaves the picture`);
    }
  }
  const said = document.querySelector("#histogram .empty:not(.hidden)")?.getBoundingClientRect();
  const mean = document.querySelector("#histogram .mean").getBoundingClientRect();
  const crossed = said && mean.left > said.left - 2 && mean.left < said.right + 2;
  if (crossed) faults.push("no noise is crossed");
  const axis = document.querySelector("#logits").getBoundingClientRect();
  for (const whisker of document.querySelectorAll("#logits:not(.hidden) .noise line")) {
    const box = whisker.getBoundingClientRect();
    if (box.top < axis.top || box.bottom > axis.bottom) faults.push("a whisker leaves the axis");
  }
  for (const text of document.querySelectorAll("#stage svg text")) {
    const size = parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM()?.a ?? 1);
    if (shown(text) && size < 9) faults.push(`${text.textContent} is too small`);
  }
  return faults;

  function inside([x, y], box) {
    return x > box.left && x < box.right && y > box.top && y < box.bottom;
  }
  // Points along every line that is seen: arrows, support lines, links, the exact ellipse.
  function strokes(picture) {
    const drawn = [...picture.querySelectorAll(
      ".arrows line, .support line, .links line, .extract line, .stems line," +
      ".hull, .exact:not(.hidden) ellipse")];
    const seen = drawn.filter((line) => Number(line.getAttribute("stroke-opacity") ?? 1) > 0.06);
    return seen.map((line) => {
      const matrix = line.getScreenCTM();
      const length = line.getTotalLength();
      return Array.from({ length: 200 }, (_, i) => {
        const p = line.getPointAtLength((length * i) / 199).matrixTransform(matrix);
        return [p.x, p.y];
      });
    });
  }
}"""
GO = """(hash) => new Promise((done) => {
  addEventListener("hashchange", done, { once: true });
  location.hash = hash;
})"""
SCENES = [f"#{card['state']}&station={card['number']}" for card in lab_stations()]
SCENES += [f"#preset={name}" for name in presets()]


@pytest.mark.parametrize("width", [390, 1200])
def test_no_name_is_struck_through_or_covered(open_page, width):
    page = open_page("#preset=plane&beta=7", width=width)
    found = {}
    for scene in SCENES:
        page.evaluate(GO, scene)
        drawn(page)
        found[scene] = sorted(set(page.evaluate(FAULTS)))
    assert {scene: faults for scene, faults in found.items() if faults} == {}


def drawn(page):
    """Wait for the exact ellipse, which comes from the engine, and for the frame after it."""
    noisy = "document.getElementById('exact-hint').textContent.includes('draws')"
    there = "document.querySelector('#values .exact:not(.hidden)')"
    page.wait_for_function(f"() => !{noisy} || {there}")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
