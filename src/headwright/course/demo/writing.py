"""The sample class as files: everything that a course has, in one folder."""

from __future__ import annotations

from pathlib import Path

from headwright.course.demo import teacher
from headwright.course.demo.documents import documents
from headwright.course.demo.tables import sample_class
from headwright.errors import InputError
from headwright.files import write_text

HAND_INS = "submissions"


def write_demo(folder: str | Path) -> list[str]:
    """Write the class into a folder that is new or empty, and return the names of the files."""
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(
            wanted="a folder that is new or empty",
            got=f"{path}, which is not empty",
            attempt="--out with another name",
        )
    sample = sample_class()
    written = dict(teacher.files(sample))
    written.update({f"{HAND_INS}/{name}": text for name, text in documents(sample)})
    for name, text in written.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(path / name, text)
    return list(written)
