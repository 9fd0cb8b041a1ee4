"""One head, one text of a batch or one length that sees what the others do not: no intent explains
that."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headwright.probes.structure.visible.found import Found, name_of
from headwright.probes.structure.visible.picture import Picture
from headwright.probes.structure.visible.shapes import CAUSAL
from headwright.probes.structure.visible.witness import Wrong


def one_text_differs(seen: Found) -> Wrong | None:
    """All texts of the batch have the same length, so that they must look alike. Only where logits
    can be set can every weight be seen; that of a hidden state may be too small to show."""
    for one in seen.pictures:
        if one.hidden:
            continue
        moved = one.moved.any(axis=1)
        still = one.still.all(axis=1)
        differ = moved.any(axis=0) & still.any(axis=0)
        if differ.any():
            row, token = (int(place) for place in np.argwhere(differ)[0])
            return Wrong(one, row, token, sees=True)
    return None


def names_of_heads(seen: Found) -> list[str]:
    """What each head sees."""
    heads = seen.smallest.moved.shape[1]
    return [name_of([one.part(head=head) for one in seen.pictures]) for head in range(heads)]


def one_head_sees_the_future(seen: Found) -> Wrong | None:
    """Some heads are causal and others are not."""
    for one in seen.pictures:
        future = ~CAUSAL.matrix(*one.any_moved.shape)
        by_head = [(one.moved[:, head] & future).any() for head in range(one.moved.shape[1])]
        if any(by_head) and not all(by_head):
            row, token = (int(place) for place in np.argwhere(one.any_moved & future)[0])
            return Wrong(one, row, token, sees=True)
    return None


def future_at_length(seen: Found) -> Wrong | None:
    """A layer that hides the future of a short input, and not that of a longer one."""
    hidden = False
    for one, future in _futures(seen):
        if not future.any():
            hidden = True
        elif hidden:
            row, token = (int(place) for place in np.argwhere(future)[0])
            return Wrong(one, row, token, sees=True)
        else:
            return None
    return None


def _futures(seen: Found) -> Iterator[tuple[Picture, np.ndarray]]:
    for one in seen.pictures:
        yield one, one.any_moved & ~CAUSAL.matrix(*one.any_moved.shape)
