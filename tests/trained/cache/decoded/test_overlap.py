"""Calibration and verification texts are different, and a shared passage makes them the same."""

import pytest

from headwright.errors import InputError
from headwright.trained.cache.decoded.overlap import refuse_overlap

_WORDS = [f"word{i}" for i in range(100)]
_TEXT = " ".join(_WORDS)


@pytest.mark.parametrize(
    "other",
    [
        _TEXT,
        _TEXT.upper(),
        "Before it.\n" + " ".join(_WORDS[40:60]) + "\nafter it",
        " ".join(_WORDS[:5]),
    ],
)
def test_a_shared_passage_is_refused(other):
    with pytest.raises(InputError, match="has not seen"):
        refuse_overlap(["something else entirely", _TEXT], ["a text of its own", other])


def test_other_texts_pass():
    refuse_overlap(
        [_TEXT], ["A text of its own, " + " ".join(_WORDS[40:59]), " ".join(_WORDS[::-1])]
    )
