"""The most memory a process held since it was last asked to forget."""

from __future__ import annotations

from pathlib import Path


def reset_peak() -> int:
    """Forget the peak so far; the memory in use now, in bytes (0 where the system does not
    tell)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _field("VmRSS")
    except OSError:
        return 0


def peak() -> int:
    return _field("VmHWM")


def _field(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0
