"""A counterexample as a file of its own: a few lines that fail while the layer is broken.

Run with plain `python F.py` from the folder where the X-ray was taken: the assertion of the first
property that is still broken ends it, and nothing is printed where all is repaired.
"""

from __future__ import annotations

from typing import Any

from headwright.probes.finding import Finding

_USED = ("Inputs", "Options", "Sizes")


def script(record: Any) -> str:
    """All broken properties of a record, one after another; empty where there is none."""
    shown = [finding for finding in record.broken if finding.counterexample is not None]
    if not shown:
        return ""
    parts = [_head(record, shown), *[_part(finding) for finding in shown]]
    return "\n".join(parts)


def _head(record: Any, shown: list[Finding]) -> str:
    names = ", ".join(finding.name for finding in shown)
    return (
        f"# {record.layer}: {names}.\n"
        "# Fails while the layer is broken; run it from the folder where the X-ray was taken.\n"
        f"{preamble(record)}"
    )


def preamble(record: Any) -> str:
    """The lines that make what counterexamples use."""
    asked = record.asked
    bodies = [one.counterexample.script for one in record.broken if one.counterexample]
    used = [name for name in _USED if any(name in body for body in bodies)]
    if asked.made:
        return (
            "import numpy as np\n\n"
            + (f"from headwright.probes import {', '.join(used)}\n" if used else "")
            + "from headwright.probes.models import function_of, opened_model, part_of\n\n"
            + f"{asked.made}\n"
        )
    settings = {"shape": asked.shape, "dtype": asked.dtype, "inputs": asked.inputs or None}
    words = [f"{name}={value!r}" for name, value in settings.items() if value is not None]
    source = f'"{asked.source}"' if asked.source else "YOUR_LAYER"
    here = "" if asked.source else "  # the function, the module, or 'module:name'"
    return (
        "import numpy as np\n\n"
        f"from headwright.probes import {', '.join([*used, 'layer_of'])}\n\n"
        f"layer = layer_of({', '.join([source, *words])}){here}\n"
    )


def _part(finding: Finding) -> str:
    example = finding.counterexample
    words = example.words if example else ""
    body = example.script if example else ""
    return f"# {finding.name}: {_one_line(words)}\n{body.rstrip()}\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
