"""Wheels that have the names of those a pack needs, and nothing in them."""

from __future__ import annotations

from pathlib import Path

from headwright.course.packs.wheel_file import written

PURE = "py3-none-any"
LINUX = "cp311-cp311-manylinux_2_28_x86_64"
ANY_LATER = "cp36-abi3-manylinux2014_x86_64"
NEEDS = {"jaxtyping": "Requires-Dist: wadler-lindig>=0.1\nRequires-Dist: jax; extra == 'docs'\n"}
USUAL = {
    "numpy": LINUX,
    "array-api-compat": PURE,
    "jaxtyping": PURE,
    "psutil": ANY_LATER,
    "pypdf": PURE,
    "wadler-lindig": PURE,
    "jax": PURE,
    "torch": LINUX,
}


def stand_ins(folder: Path, tags: dict[str, str] | None = None) -> Path:
    """A folder of wheels by name and tag; those of USUAL without other wishes."""
    folder.mkdir(exist_ok=True)
    for name, tag in (USUAL if tags is None else tags).items():
        stem = name.replace("-", "_")
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{NEEDS.get(name, '')}\n"
        wheel = written(stem, "1.0", [tag], {f"{stem}-1.0.dist-info/METADATA": about.encode()})
        (folder / wheel.file).write_bytes(wheel.data)
    return folder
