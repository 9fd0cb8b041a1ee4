"""For the test suites of people who write attention layers.

from headwright.testing import assert_attention

def test_my_attention():
    assert_attention(my_attention, expect="causal")
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from headwright.probes.asking import SECONDS, xray
from headwright.probes.finding import Finding
from headwright.probes.record import XRay

__all__ = ["assert_attention"]


def assert_attention(
    layer: Any,
    expect: str | None = None,
    *,
    shape: tuple[int, int] | None = None,
    dtype: str | None = None,
    scale: float | None = None,
    inputs: Any = None,
    seed: int = 0,
    timeout: float | None = SECONDS,
    only: str | Sequence[str] | None = None,
) -> XRay:
    """Fails with the smallest counterexample of every property that is broken; returns the record
    where none is. The arguments are those of `hw.xray`."""
    # What pytest shows of a failure begins at the caller's own line.
    __tracebackhide__ = True
    found = xray(
        layer,
        expect=expect,
        shape=shape,
        dtype=dtype,
        scale=scale,
        inputs=inputs,
        seed=seed,
        timeout=timeout,
        only=only,
    )
    if found.holds:
        return found
    raise AssertionError(_message(found))


def _message(found: XRay) -> str:
    names = ", ".join(finding.name for finding in found.broken)
    expected = f" (expected: {found.asked.expect})" if found.asked.expect else ""
    parts = [f"{found.layer}: broken: {names}{expected}"]
    parts += [_line(finding) for finding in found.broken]
    script = found.script()
    if script:
        parts += ["", "To reproduce:", "", textwrap.indent(script, "    ")]
    return "\n".join(parts)


def _line(finding: Finding) -> str:
    example = finding.counterexample
    words = f"\n    smallest counterexample: {example.words}" if example else ""
    return f"  {finding.name}: {finding.evidence}{words}"
