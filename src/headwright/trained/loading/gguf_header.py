"""The head of a GGUF file: its numbers and the shapes of its tensors, every length checked against
the bytes that are there.

The library's reader believes the lengths it reads: an array that claims 2^40 numbers, in a file of
a hundred bytes, fills the memory. So the head is walked here first, and nothing is kept of it but a
few numbers.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
# Codes of `struct` by the format's type numbers; a string and an array have a length of their own.
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING = 8
_ARRAY = 9
# The library flattens arrays of arrays, and no model has any.
_DEEPEST = 2
_MOST_DIMENSIONS = 8
# The fewest bytes of an entry: length of its name, kind, one byte. And of a tensor: length of its
# name, number of dimensions, how it is stored, where.
_LEAST_ENTRY = 8 + 4 + 1
_LEAST_TENSOR = 8 + 4 + 4 + 8


@dataclass(frozen=True)
class Header:
    """`numbers` by name, arrays and strings left out; how many `tensors`, and the weights they
    claim together."""

    numbers: dict[str, float]
    tensors: int
    elements: int


def read(path: Path) -> Header:
    """ValueError where the file is no GGUF, or promises more than it holds."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != _MAGIC:
            raise ValueError("no GGUF file: it does not begin with those letters")
        walk = _Walk(data, _byte_order(data), place=8)
        tensors = walk.count(least=_LEAST_TENSOR)
        entries = [walk.entry() for _ in range(walk.count(least=_LEAST_ENTRY))]
        numbers = dict(entry for entry in entries if entry is not None)
        elements = sum(walk.tensor() for _ in range(tensors))
        return Header(numbers, tensors, elements)


def _byte_order(data: mmap.mmap) -> str:
    """The format has no mark of its own for it: it is the one in which the version is known."""
    (little,) = struct.unpack_from("<I", data, 4)
    (big,) = struct.unpack_from(">I", data, 4)
    if little not in _VERSIONS and big not in _VERSIONS:
        raise ValueError(f"GGUF version {little}, of which only {_VERSIONS} are read")
    return "<" if little in _VERSIONS else ">"


@dataclass
class _Walk:
    """A place in the file that only moves forward and never past its end."""

    data: mmap.mmap
    order: str
    place: int

    def skip(self, size: int) -> int:
        """The place before moving on by `size` bytes."""
        start = self.place
        if size > len(self.data) - start:
            raise ValueError(f"{size} bytes promised at byte {start} of a file of {len(self.data)}")
        self.place += size
        return start

    def number(self, code: str) -> float:
        start = self.skip(struct.calcsize("=" + code))
        return struct.unpack_from(self.order + code, self.data, start)[0]

    def count(self, *, least: int) -> int:
        """A count of things that take `least` bytes each or more, all of them still ahead."""
        count = int(self.number("Q"))
        if count * least > len(self.data) - self.place:
            raise ValueError(
                f"{count} entries promised at byte {self.place} of a file of {len(self.data)}"
            )
        return count

    def text(self) -> str:
        size = int(self.number("Q"))
        start = self.skip(size)
        return bytes(self.data[start : start + size]).decode("utf-8", errors="replace")

    def entry(self) -> tuple[str, float] | None:
        """A name and its number; None for what is no number."""
        name = self.text()
        kind = int(self.number("I"))
        if kind in _SCALARS:
            return name, self.number(_SCALARS[kind])
        self.pass_over(kind)
        return None

    def pass_over(self, kind: int, depth: int = 0) -> None:
        if kind in _SCALARS:
            self.skip(struct.calcsize("=" + _SCALARS[kind]))
        elif kind == _STRING:
            self.skip(int(self.number("Q")))
        elif kind == _ARRAY and depth < _DEEPEST:
            self.pass_over_array(depth + 1)
        else:
            raise ValueError(f"an entry of kind {kind}, {depth} arrays deep, at byte {self.place}")

    def pass_over_array(self, depth: int) -> None:
        kind = int(self.number("I"))
        if kind in _SCALARS:
            size = struct.calcsize("=" + _SCALARS[kind])
            self.skip(size * self.count(least=size))
            return
        for _ in range(self.count(least=8)):
            self.pass_over(kind, depth)

    def tensor(self) -> int:
        """The elements of the next tensor."""
        self.skip(int(self.number("Q")))  # its name
        dimensions = int(self.number("I"))
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        shape = [int(self.number("Q")) for _ in range(dimensions)]
        self.number("I")  # how it is stored
        self.number("Q")  # and where
        return math.prod(shape)
