"""The zip that a teacher uploads."""

from __future__ import annotations

import difflib
import json
import uuid
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from headwright.course.packs import wheels as wheel_sources
from headwright.course.packs.grader import BANK, FORMS, NOT_GRADED, RUBRIC
from headwright.course.packs.place import platforms
from headwright.course.packs.terms import digest, terms
from headwright.course.packs.wheel_file import Wheel, zipped
from headwright.crew.function import engine_version
from headwright.errors import InputError
from headwright.exercise.bank import Bank
from headwright.files import write_bytes

_SCRIPTS = ("setup.sh", "run.sh", "run_autograder")
_DID_NOT_START = "the checker did not start, or was ended before it had finished"


@dataclass(frozen=True)
class Packed:
    """What was written, and what it needs where it runs."""

    platform: str
    out: str
    bytes: int
    version: str
    bank: str  # digests
    rubric: str
    questions: int
    max_points: float
    hidden: int  # questions that students do not see at once
    wheels: tuple[str, ...]
    pythons: tuple[str, ...]
    usual_python: str  # the one that the platform's image has, or can get


def pack(
    platform: str,
    out: str | Path,
    *,
    bank_file: str | Path | None = None,
    rubric_file: str | Path | None = None,
    wheels_folder: str | Path | None = None,
) -> Packed:
    """Everything is checked before anything is written."""
    _insist_on(platform)
    bank, rubric = terms(bank_file, rubric_file)
    needed = _wheels(wheels_folder)
    pythons = wheel_sources.pythons(needed)
    given = {BANK: bank_file, RUBRIC: rubric_file}
    contents = {
        "pythons.txt": " ".join(pythons).encode(),
        "requirements.txt": _requirements(needed),
        "not_graded.json": _not_graded(platform, bank),
        **{name: Path(path).read_bytes() for name, path in given.items() if path},
        **{f"wheels/{wheel.file}": wheel.data for wheel in needed},
    }
    data = _zip(platform, contents, {"python": pythons[0], "title": bank.title})
    write_bytes(out, data)
    worths = rubric.questions.values()
    return Packed(
        platform=platform,
        out=str(out),
        bytes=len(data),
        version=engine_version(),
        bank=digest(bank),
        rubric=rubric.digest,
        questions=len(rubric.questions),
        max_points=rubric.max_points,
        hidden=sum(worth.visibility != "visible" for worth in worths),
        wheels=tuple(wheel.file for wheel in needed),
        pythons=tuple(pythons),
        usual_python=platforms()[platform]["python"],
    )


def _insist_on(platform: str) -> None:
    known = list(platforms())
    if platform not in known:
        near = difflib.get_close_matches(platform.lower(), known, n=1, cutoff=0.5) or known
        raise InputError(
            wanted=f"a platform: {' or '.join(known)}",
            got=repr(platform[:80]),
            attempt=f"headwright pack {near[0]}",
        )


def _wheels(folder: str | Path | None) -> list[Wheel]:
    found = wheel_sources.in_folder(folder) if folder else wheel_sources.installed()
    wheel_sources.refuse_other_systems(found)
    return [*found, wheel_sources.own_wheel()]


def _requirements(wheels: list[Wheel]) -> bytes:
    lines = dict.fromkeys(f"{wheel.name}=={wheel.version}" for wheel in wheels)
    return "\n".join([*lines, ""]).encode()


def _not_graded(platform: str, bank: Bank) -> bytes:
    extra = {"version": engine_version(), "bank": digest(bank), "variant": ""}
    results = FORMS[platform].not_graded(NOT_GRADED.format(why=_DID_NOT_START), extra)
    return json.dumps(results, indent=1).encode("ascii")


def _zip(platform: str, contents: dict[str, bytes], values: dict[str, Any]) -> bytes:
    row = platforms()[platform]
    whole = {f"{row['folder']}{name}": data for name, data in contents.items()}
    for name, source in row["files"].items():
        whole[name] = _filled_in(source, values)
    executable = frozenset(name for name, file in row["files"].items() if file in _SCRIPTS)
    # Stored: the wheels are compressed already
    return zipped(whole, zipfile.ZIP_STORED, executable)


def _filled_in(source: str, values: dict[str, Any]) -> bytes:
    text = files("headwright.course.packs").joinpath("files", source).read_text("utf-8")
    known = {**values, "uuid": uuid.uuid5(uuid.NAMESPACE_OID, values["title"])}
    for name, value in known.items():
        text = text.replace(f"@{name}@", json.dumps(str(value))[1:-1])
    return text.encode("utf-8")
