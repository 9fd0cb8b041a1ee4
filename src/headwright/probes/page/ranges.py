"""Numbers in a few words."""

from __future__ import annotations

from collections.abc import Iterable


def runs(numbers: Iterable[int]) -> str:
    """ "0-3, 5": stretches of neighbours as their ends."""
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1].append(int(number))
        else:
            stretches.append([int(number)])
    ends = [f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in stretches]
    return ", ".join(ends)
