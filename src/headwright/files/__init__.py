"""Arrays and results on disk.

Reading order: `tables` (numbers written as text), `reading` (every format, standard input),
`writing` (whole or not at all).
"""

from headwright.files.reading import read_array
from headwright.files.writing import noting_writes, write_bytes, write_json, write_text

__all__ = ["noting_writes", "read_array", "write_bytes", "write_json", "write_text"]
