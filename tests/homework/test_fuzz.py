"""Random documents, from noise to nearly right answers: always a report, never an exception, spans inside the text.
The longer run is benchmarks/fuzz_check.py."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz_check import DOCUMENTS, faults_of, mutated
from homework.corpus.documents import document


@settings(max_examples=60)
@given(text=DOCUMENTS, suffix=st.sampled_from(["", ".md", ".tex", ".txt", ".typ", ".ipynb"]))
def test_noise_is_judged_or_unread(text, suffix):
    assert faults_of(text, suffix) == []


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), cuts=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40)), max_size=6))
def test_damaged_answers_are_judged_or_unread(seed, cuts):
    written = document(seed)
    assert faults_of(mutated(written.text, cuts), written.suffix) == []
