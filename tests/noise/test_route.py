"""The way of a question through the files reads as a story: which files of ours run, in the order
in which they are first entered. Files that are only imported do not count."""

import sys
from pathlib import Path

import numpy as np

import headwright as hw
from headwright.noise import moments

PACKAGE = Path(hw.__file__).parent


def files_entered(question):
    entered = []

    def notice(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            name = path.relative_to(PACKAGE).with_suffix("").as_posix()
            if name not in entered:
                entered.append(name)

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        question()
    finally:
        sys.setprofile(before)
    return entered


def in_folder(names, folder):
    return [name for name in names if name.startswith(f"{folder}/")]


def test_one_head_and_few_keys(rng):
    keys = hw.GaussianKeys(rng.normal(size=(5, 4)), isotropic=0.1)
    q = rng.normal(size=4)
    V = rng.normal(size=(5, 2))
    moments(q, keys, V)  # imports are behind us

    names = files_entered(lambda: moments(q, keys, V))

    # The question, what was asked, the queries, one integral, what rounding did, the answer.
    assert in_folder(names, "noise") == [
        "noise/moments",
        "noise/problem",
        "noise/few/moments",
        "noise/head/integral",
        "noise/head/laws",
        "noise/head/nodes",
        "noise/head/ends",
        "noise/head/blocks",
        "noise/head/uniform",
        "noise/rounding",
        "noise/exact",
        "noise/record",
    ]
    # The law of the logits, in double precision.
    assert in_folder(names, "keys") == ["keys/centred", "keys/products", "keys/covariance"]
    # The floor: checked input, equal mix of the heads, arrays on the host.
    assert set(names) - set(in_folder(names, "noise")) - set(in_folder(names, "keys")) == {
        "attention",
        "inputs",
        "result",
    }


def test_one_head_and_few_keys_meet_neither_a_grid_nor_a_second_head(rng):
    keys = hw.GaussianKeys(rng.normal(size=(48, 4)), isotropic=np.full(48, 0.1)).radial({3: 0.5})

    names = files_entered(lambda: moments(rng.normal(size=4), keys, np.eye(48)))

    for folder in ("noise/many", "noise/heads", "noise/sampling", "noise/limit"):
        assert in_folder(names, folder) == []
