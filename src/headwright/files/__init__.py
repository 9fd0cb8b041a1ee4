"""Arrays and results on disk.

Reading order: `tables` (numbers written as text), `reading` (every format, standard input),
`writing` (whole or not at all).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwright.files.writing import noting_writes, write_bytes, write_json, write_text

if TYPE_CHECKING:
    from headwright.files.reading import read_array

__all__ = ["noting_writes", "read_array", "write_bytes", "write_json", "write_text"]


def __getattr__(name: str) -> Any:
    if name != "read_array":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwright.files.reading import read_array  # with NumPy, which writing does not need

    return read_array
