"""The wheels that the checker needs where it runs: headwright itself, and the few packages that
judging imports, written back from their installation here or taken from a folder.

No network is asked: what grades there is what was tried here. Packages that only draw, design or
audit stay out; with them a pack is five times as large.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from headwright.course.packs.making.wheel_file import Wheel, normal, pure, written
from headwright.crew.function import engine_version
from headwright.errors import InputError

# What judging imports; with what these need in turn, it is all (a test imports nothing else).
NEEDED = ("numpy", "array-api-compat", "jaxtyping", "psutil")
# Without it PDFs are unread, and say so.
WELCOME = ("pypdf",)
# Written by an installer, for the place where it installed
_OF_THE_PLACE = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
_REQUIREMENT = re.compile(r"^Requires-Dist:\s*([\w.-]+)(.*)$", re.M)
_SYSTEM = re.compile(r"any|(many)?linux(_\d+_\d+|\d+)?_x86_64")
_DOWNLOAD = (
    "pip download -d wheels --only-binary :all: --platform manylinux_2_28_x86_64 "
    f"--python-version 3.11 {' '.join((*NEEDED, *WELCOME))}, then --wheels wheels"
)


def own_wheel() -> Wheel:
    """headwright as it runs here, from a clone or installed."""
    found = dict(_files_below(files("headwright"), "headwright"))
    return pure("headwright", engine_version(), found)


def installed() -> list[Wheel]:
    """The packages of this Python."""
    return _with_needs(_installed)


def in_folder(folder: str | Path) -> list[Wheel]:
    """Those wheels of a folder that are needed, for every version of Python that it has them
    for."""
    place = Path(folder)
    paths = sorted(place.glob("*.whl")) if place.is_dir() else []
    if not paths:
        raise InputError(wanted="a folder with wheels", got=f"none in {place}", attempt=_DOWNLOAD)
    by_name: dict[str, list[Path]] = {}
    for path in paths:
        if path.name.count("-") < 4:
            raise InputError(wanted="the name of a wheel", got=path.name, attempt=_DOWNLOAD)
        by_name.setdefault(normal(path.name.split("-")[0]), []).append(path)
    return _with_needs(lambda name: [_read(path) for path in by_name.get(name, [])])


def pythons(wheels: Iterable[Wheel]) -> list[str]:
    """The versions of Python that every package has a wheel for."""
    bound: dict[str, set[str]] = {}
    for wheel in wheels:
        if wheel.pythons:
            bound.setdefault(wheel.name, set()).update(wheel.pythons)
    shared = set.intersection(*bound.values()) if bound else set()
    if not shared:
        got = ", ".join(f"{name} for {' and '.join(sorted(of))}" for name, of in bound.items())
        raise InputError(
            wanted="wheels for one Python",
            got=got or "wheels for several, or for none",
            attempt=_DOWNLOAD,
        )
    return sorted(shared, key=lambda version: [int(part) for part in version.split(".")])


def refuse_other_systems(wheels: Iterable[Wheel]) -> None:
    """Platforms run Linux on x86-64; wheels of a laptop may be for something else."""
    for wheel in wheels:
        systems = wheel.system.split(".")
        if not any(_SYSTEM.fullmatch(system) for system in systems):
            raise InputError(
                wanted="wheels for Linux on x86_64, which the platforms run",
                got=f"{wheel.name} for {wheel.system}",
                attempt=_DOWNLOAD,
            )


# ----------------------------------------------------------------------------------- what is needed


def _with_needs(find: Callable[[str], list[Wheel]]) -> list[Wheel]:
    """The packages, and whatever they need without being asked for more, as far as it is there: a
    need of another Python is not."""
    found: dict[str, Wheel] = {}
    waiting = [*NEEDED, *WELCOME]
    while waiting:
        name = waiting.pop(0)
        wheels = find(name)
        if not wheels and name in NEEDED:
            raise InputError(wanted=f"a wheel of {name}", got="none", attempt=_DOWNLOAD)
        for wheel in wheels:
            found[wheel.file] = wheel
        waiting += [
            need for need in _needs(wheels) if not any(w.name == need for w in found.values())
        ]
    return list(found.values())


def _needs(wheels: list[Wheel]) -> list[str]:
    if not wheels:
        return []
    stated = _REQUIREMENT.findall(wheels[0].metadata.partition("\n\n")[0])
    return [normal(name) for name, condition in stated if "extra ==" not in condition]


# ------------------------------------------------------------------------------ where they are from


def _read(path: Path) -> Wheel:
    return Wheel(path.name, path.read_bytes())


def _installed(name: str) -> list[Wheel]:
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return []
    about = distribution.read_text("WHEEL") or ""
    tags = re.findall(r"^Tag:\s*(\S+)", about, re.M)
    listed = [file for file in distribution.files or [] if ".." not in file.parts]
    kept = [file for file in listed if "__pycache__" not in file.parts]
    if not tags or any(file.suffix == ".pth" for file in kept):
        raise InputError(
            wanted=f"{name} as pip installs it from a wheel",
            got="an installation of another kind",
            attempt=_DOWNLOAD,
        )
    contents = {
        str(file.as_posix()): Path(str(file.locate())).read_bytes()
        for file in kept
        if not (file.parts[0].endswith(".dist-info") and file.name in _OF_THE_PLACE)
    }
    folder = next(part for part in (f.parts[0] for f in kept) if part.endswith(".dist-info"))
    stem, _, version = folder.removesuffix(".dist-info").partition("-")
    return [written(stem, version, tags, contents)]


def _files_below(folder: Traversable, path: str) -> Iterable[tuple[str, bytes]]:
    for entry in folder.iterdir():
        here = f"{path}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files_below(entry, here)
        elif entry.is_file():
            yield here, entry.read_bytes()
