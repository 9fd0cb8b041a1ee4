"""Three sets of hand-ins, each written and graded without looking at the judges or at the sets
before it (`blind/`). The first two were looked at afterwards; the third is the forecast.

What holds is held: shares of right answers by kind, in per cent, and how many are misjudged.
"""

from pathlib import Path

import pytest
from benchmarks import check_real

BLIND = Path(__file__).with_name("blind")
# kind -> least right (per cent), most misjudged
HELD = {
    "first": {
        "formula": (95, 0),
        "claim": (93, 0),
        "proof": (80, 0),
        "prose": (92, 0),
        "blank": (87, 0),
    },
    "second": {
        "formula": (95, 1),
        "claim": (88, 0),
        "proof": (78, 0),
        "prose": (81, 0),
        "blank": (96, 0),
    },
    "third": {
        "formula": (97, 1),
        "claim": (95, 2),
        "proof": (46, 0),
        "prose": (69, 1),
        "blank": (92, 0),
    },
}


@pytest.mark.parametrize("name", HELD)
def test_hand_ins_are_judged_as_well_as_stated(name):
    folder = BLIND / name
    found = check_real.run(str(folder / "documents"), str(folder / "expected.json"), quick=False)
    rows = {row["kind"]: row for row in found["rows"]}
    assert rows.keys() >= HELD[name].keys()
    for kind, (least_right, most_misjudged) in HELD[name].items():
        assert rows[kind]["right %"] >= least_right, (kind, found["notes"])
        assert rows[kind]["misjudged"] <= most_misjudged, (kind, found["notes"])
