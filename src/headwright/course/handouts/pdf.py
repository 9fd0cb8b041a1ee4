"""Sheets as PDF, where a TeX is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from headwright.errors import InputError

_PROGRAM = "pdflatex"
_SECONDS = 60
# No shell, no file outside of the folder, and the same bytes whenever it runs
_SAFE = {"openin_any": "p", "openout_any": "p", "shell_escape": "f", "SOURCE_DATE_EPOCH": "0"}


def require_tex() -> None:
    if shutil.which(_PROGRAM) is None:
        raise InputError(
            wanted=f"{_PROGRAM} for --pdf", got="none is installed", attempt="leave --pdf out"
        )


def as_pdf(tex: bytes) -> bytes | None:
    """None where TeX could not set it, such as a name in letters that its fonts lack."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sheet.tex").write_bytes(tex)
        options = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
        try:
            subprocess.run(
                [_PROGRAM, *options, "sheet.tex"],
                cwd=folder,
                env={**os.environ, **_SAFE},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=True,
            )
            return Path(folder, "sheet.pdf").read_bytes()
        except (subprocess.SubprocessError, OSError):
            return None
