"""What `headwright design` shows to people: the numbers, the weights, the proof."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from headwright.cli.heads.attend import vector

_MOST_ROWS = 12
_MOST_HEADS = 8
_BAR = 24  # characters of a weight of one


def render(console: Console, design: Any, data: dict[str, Any]) -> None:
    console.print(f"{design.target}: [bold]{design.status}[/bold]")
    if design.message:
        console.print(design.message)

    table = Table("", "", show_header=False, box=None, pad_edge=False)
    for name, value in _lines(design, data["certificate"]).items():
        table.add_row(name, value)
    console.print(table)

    if len(design.queries):
        _queries(console, design.queries)
    if design.status in ("reached", "nearest"):
        console.print(_weights(design))
    if design.proof is not None:
        console.print(_proof(design.proof))
    for path in data.get("figures", []):
        console.print(f"wrote {path}", soft_wrap=True, markup=False)


def _queries(console: Console, queries: Any) -> None:
    """What was asked for: the query of every head."""
    for head, query in enumerate(queries[:_MOST_HEADS], 1):
        name = f"query of head {head}" if len(queries) > 1 else "query"
        console.print(f"{name} = {vector(query)}", soft_wrap=True)
    hidden = len(queries) - _MOST_HEADS
    more = f"{hidden} more heads and " if hidden > 0 else ""
    console.print(f"{more}every digit: --json, or --save D.json", style="dim")


def _lines(design: Any, certificate: dict[str, Any]) -> dict[str, str]:
    """What there is to say, name by name."""
    certified = f"certified {certificate['leak_bound']:.6g}"
    mix = ", ".join(f"{x:.4g}" for x in design.mix[:_MOST_HEADS])
    several = len(design.target.support) > 1

    lines: dict[str, str] = {}
    lines["leak"] = f"{design.leak:.6g}  (asked {design.leak_asked:g}, {certified})"
    lead = "lead of the target's weakest key, in query units"
    lines["sharpness"] = f"{design.sharpness:.6g}  ({lead})"
    lines["query length"] = f"{design.norm:.8g}{_shortest(design)}"
    lines["heads"] = f"{len(design.mix)}  mix {mix}"
    if design.status == "reached" and several:
        lines["ratio"] = _ratio(certificate)
    if design.ceiling is not None:
        query = "any query in the ratio of the shares" if several else "any query"
        lines["ceiling"] = f"{design.ceiling:.6g}  (the most weight {query} puts on the target)"
    if design.robust is not None:
        lines |= _robust(design.robust)

    failures = "; ".join(certificate["failures"])
    fails = f"without noise: {failures}" if design.robust else failures
    lines["certificate"] = f"holds ({certificate['method']})" if certificate["holds"] else fails
    return lines


def _shortest(design: Any) -> str:
    if not design.norm or not design.lower_bound:
        return ""
    gap = 1 - design.lower_bound / design.norm
    return f"  (shortest possible, to {gap:.1e})"


def _ratio(certificate: dict[str, Any]) -> str:
    bent = float(certificate["ratio_error"])
    allowed = float(certificate["ratio_allowed"])
    return f"that of the shares to {bent:.1e}  (rounding explains {allowed:.1e})"


def _robust(robust: Any) -> dict[str, str]:
    sampled = f"{robust.sampled:.6g} ± {robust.sampled_error:.1g} sampled"
    textbook = f"{robust.textbook:.6g} exact, {robust.textbook_sampled:.6g} sampled"
    gain = f"{robust.gain:.3g} times smaller, queries no longer than {robust.budget:.4g}"
    return {
        "squared error": f"{robust.error:.6g} exact, {sampled}",
        "textbook heads": textbook,
        "gain": gain,
    }


def _weights(design: Any) -> Table:
    """The heaviest keys, and the share each was to have."""
    table = Table("key", "share", "weight", "", title="weights")
    shares = dict(zip(design.target.support, design.target.shares, strict=True))
    heaviest_first = sorted(range(len(design.weights)), key=lambda i: -design.weights[i])
    for i in heaviest_first[:_MOST_ROWS]:
        weight = float(design.weights[i])
        share = f"{shares[i]:.4f}" if i in shares else "-"
        table.add_row(str(i), share, f"{weight:.6f}", "█" * round(_BAR * weight))
    return table


def _proof(proof: Any) -> str:
    from headwright.design.proofs.proof import Combination

    if isinstance(proof, Combination):
        inside = _sum(proof.inside_coefficients, proof.inside)
        outside = _sum(proof.outside_coefficients, proof.outside)
        return f"proof: {inside} = {outside}"
    total = _sum(proof.coefficients, proof.keys)
    return f"proof: {total} = 0, while the wanted logits give {proof.imbalance:.6g}"


def _sum(coefficients: Any, keys: Any) -> str:
    terms = [f"{c:.4g} k_{i}" for c, i in zip(coefficients, keys, strict=True) if c]
    shown = " + ".join(terms[:_MOST_ROWS])
    return f"{shown} + ..." if len(keys) > _MOST_ROWS else shown
