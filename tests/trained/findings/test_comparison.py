"""Two audits: planted changes are found and chance is not; what a saved audit says is checked."""

# ruff: noqa: E402

import dataclasses
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")

from tests.tolerances import SAVED_PARTS
from tests.trained import made_up
from tests.trained.families import build

import headwright as hw
from headwright.errors import InputError
from headwright.trained.findings.comparison import compare
from headwright.trained.findings.saved import read_saved
from headwright.trained.measures.chance import Chance

_NAMES = ("now", "before")
_IDS = [np.random.default_rng(7).integers(1, 60, 60).tolist()]


def _cards(seed, shift=0.0, size=400):
    """Heads whose entropy is a mean over parts that differ by chance; every tenth is shifted."""
    rng = np.random.default_rng(seed)
    shared = np.random.default_rng(99).normal(3.0, 0.5, (size, 8))
    cards = []
    for i in range(size):
        parts = shared[i] + rng.normal(0.0, 0.05, 8) + (shift if i % 10 == 0 else 0.0)
        made = made_up.card(rng, i // 8, i % 8, entropy=float(parts.mean()))
        bare = {"entropy": made.measures["entropy"], "twin": -1.0}
        cards.append(dataclasses.replace(made, measures=bare, parts={"entropy": parts}))
    return cards


def test_chance_alone_changes_next_to_nothing():
    """Ten comparisons without a change: one in twenty may list something."""
    listed = []
    for i in range(10):
        found = compare(_cards(i, size=40), _cards(100 + i, size=40), names=_NAMES)
        listed.append(bool(found.heads))
    # More than 4 of 10 at 5 % has a chance below 1e-4.
    assert sum(listed) <= 4


def test_planted_changes_are_found_and_few_others():
    found = compare(_cards(1, shift=0.5), _cards(2), names=_NAMES)
    numbers = [8 * head.card.layer + head.card.head for head in found.heads]
    wrong = [i for i in numbers if i % 10]
    assert len(numbers) - len(wrong) >= 38
    # 5 % of those listed in the mean: 2 of 40; more than 9 has a chance below 1e-3.
    assert len(wrong) <= 9
    first = found.heads[0].changes[0]
    assert first.now - first.before == pytest.approx(0.5, abs=6 * first.error)
    sizes = [head.size for head in found.heads]
    assert sizes == sorted(sizes, reverse=True)
    assert found.sentences[0].startswith(f"{len(numbers)} of 400 heads changed beyond sampling")


def test_shares_are_judged_by_their_rows():
    """A pattern's score is known on the whole text only: 10 queries settle less than 1,000."""
    rng = np.random.default_rng(0)
    cards = [made_up.card(rng, 0, head) for head in range(8)]
    for rows, changed in ((10, 0), (1000, 1)):
        now = [_share_only(card, 0.5 if card.head == 3 else 0.2, rows) for card in cards]
        before = [_share_only(card, 0.2, rows) for card in cards]
        assert len(compare(now, before, names=_NAMES).heads) == changed


def _share_only(card, value, rows):
    measures = {"induction": value, "twin": -1.0}
    chance = {"induction": Chance(0.01, rows)}
    return dataclasses.replace(card, measures=measures, parts={}, chance=chance, errors={})


def _model(*, sharper=1.0):
    model, _ = build("llama")
    with torch.no_grad():
        model.layers[1].self_attn.q_proj.weight[8:16] *= sharper
    return model


def test_a_sharper_head_is_the_one_that_changed():
    """Layer 1, head 1 asks eight times as sharply; nothing before it moves."""
    base = hw.audit(_model(), _IDS, rows=0)
    tuned = hw.audit(_model(sharper=8.0), _IDS, rows=0)
    found = tuned.against(base)
    assert [head.card.name for head in found.heads] == ["1.1"]
    assert "entropy" in {change.measure for change in found.heads[0].changes}
    assert tuned.against(tuned).sentences == (
        "None of the 8 heads changed by more than sampling error.",
    )


def test_saved_and_read_back_is_the_same(tmp_path):
    base = hw.audit(_model(), _IDS, rows=2)
    tuned = hw.audit(_model(sharper=8.0), _IDS, rows=2)
    file = tmp_path / "base.json"
    # In another order than that of the model.
    file.write_text(json.dumps(base.plain(base.sorted("entropy"))))
    live = tuned.against(base)
    saved = tuned.against(read_saved(file))
    assert [head.card.name for head in live.heads] == [head.card.name for head in saved.heads]
    np.testing.assert_allclose(
        [head.size for head in live.heads], [head.size for head in saved.heads], rtol=SAVED_PARTS
    )
    assert live.compared == saved.compared


def test_other_shapes_and_other_texts_are_refused():
    base = hw.audit(_model(), _IDS, rows=0)
    with pytest.raises(InputError, match="8 heads in 2 layers; got 12 heads in 3 layers"):
        base.against(dataclasses.replace(made_up.audit(3, 4), fingerprint=""))
    with pytest.raises(InputError, match="the same texts"):
        base.against(hw.audit(_model(), [[1, 2, 3]], rows=0))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[" * 100_000, "[]", "3", "{}", '{"heads": []}', '{"heads": [3]}',
        '{"heads": [{"layer": 0}]}', '{"heads": [{"layer": true, "head": 0}]}',
        '{"heads": [{"layer": "0", "head": 0}]}', '{"heads": {"layer": 0, "head": 0}}',
    ],
)  # fmt: skip
def test_files_that_hold_no_audit_are_refused(tmp_path, text):
    file = tmp_path / "audit.json"
    file.write_text(text)
    with pytest.raises(InputError, match="an audit as --json writes it"):
        read_saved(file)


def test_what_is_no_number_in_a_file_is_no_measure(tmp_path):
    head = {
        "layer": 0, "head": 0, "entropy": 1.5, "margin": None, "first": "0.3", "copy": [1],
        "previous": True, "parts": {"entropy": "no", "margin": [1, None]}, "rows": {"first": -3},
    }  # fmt: skip
    file = tmp_path / "audit.json"
    file.write_text(json.dumps({"heads": [head]}))
    (card,) = read_saved(file).cards
    assert set(card.measures) == {"entropy", "margin"}
    assert np.isnan(card.measures["margin"])
    assert set(card.parts) == {"margin"}
    assert card.chance == {}
