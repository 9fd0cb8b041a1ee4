"""`headwright design`: from a target to the cheapest query, with a certificate, figures and a file
to re-check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.conventions import ARRAY, Outputs, Reply
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

_MOST_ROWS = 12


@headwright_command("design")
@click.option("--keys", "K", type=ARRAY, required=True, help="Keys, n x d.")
@click.option("--copy", "copied", metavar="J", help="Copy this key.")
@click.option("--average", "averaged", metavar="A,B,..", help="Average these keys.")
@click.option("--mixture", "mixed", metavar="A=.7,B=.3", help="Mix these keys.")
@click.option(
    "--leak", type=float, default=1e-3, show_default=True, help="Weight allowed outside the target."
)
@click.option(
    "--heads", default="1", show_default=True, metavar="auto|N", help="Fewest heads, or this many."
)
@click.option("--uniform", is_flag=True, help="All heads have the same weight.")
@click.option(
    "--scale",
    type=float,
    default=1.0,
    show_default=True,
    help="Factor on the scores, e.g. 1/sqrt(d).",
)
@click.option("--bias", type=ARRAY, default=None, help="Added to the logits, one number per key.")
@click.option(
    "--storage", default="float64", show_default=True, help="float64, float32 or bfloat16."
)
@click.option(
    "--noise", metavar="LAW", help="Design for random keys, e.g. isotropic=1e-4,radial@3=0.5."
)
@click.option("--budget", type=float, default=None, help="With --noise: no query longer than this.")
@click.option(
    "--values",
    "V",
    type=ARRAY,
    default=None,
    help="With --noise: measure the error in these values.",
)
@click.option("--ball", is_flag=True, help="Certify in ball arithmetic as well (slow).")
@click.option(
    "--save", "save_as", type=click.Path(dir_okay=False), help="Write the design as JSON."
)
@click.option("--out", type=click.Path(file_okay=False), help="Write figures into this folder.")
def command(K: Any, save_as: str | None, out: str | None, ball: bool, **asked: Any) -> Reply:
    """The cheapest query for a target, how good it provably is, or the proof that there is none.

    Exit 0 if the answer is certain (reached and certified, proved impossible, or the nearest
    mixture), 1 if not.
    """
    from headwright.design.saved import document
    from headwright.files import write_json

    design = _design(K, asked)
    data = document(design)
    outputs = Outputs()
    if save_as:
        outputs.attempt(lambda: write_json(save_as, data))
    enclosed = design.certify(method="ball") if ball and design.status != "impossible" else None
    if out:
        from headwright.design.figures import figures

        drawn = outputs.attempt(lambda: figures(design, Path(out))) or []
        data["figures"] = [str(path) for path in drawn]
    if enclosed is not None:
        data["ball_certificate"] = enclosed
    certain = (
        design.robust is not None or design.status == "nearest" or data["certificate"]["holds"]
    )
    holds = design.status != "undecided" and certain and (enclosed is None or enclosed.holds)
    return Reply(
        data, lambda console: _render(console, design, data), holds=holds, faults=outputs.faults
    )


def _design(K: Any, asked: dict[str, Any]) -> Any:
    from headwright import design

    words = {"copied": design.copy, "averaged": design.average, "mixed": design.mixture}
    given = [word for word in words if asked[word] is not None]
    if len(given) != 1:
        raise InputError(
            wanted="one of --copy, --average, --mixture",
            got=f"{len(given)} of them",
            attempt="--copy 0",
        )
    target = _TARGETS[given[0]](asked[given[0]])
    law = None
    if asked["noise"]:
        from headwright.cli.heads.law import law_from_text

        law = law_from_text(asked["noise"], K)
    options = {name: asked[name] for name in ("scale", "bias", "storage", "uniform", "budget")}
    heads = asked["heads"] if asked["heads"] == "auto" else _whole("--heads", asked["heads"])
    return words[given[0]](
        target, K, leak=asked["leak"], heads=heads, law=law, values=asked["V"], **options
    )


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(
            wanted=f"{name} as a whole number", got=repr(text), attempt=f"{name} 2"
        ) from None


def _shares(text: str) -> dict[int, float]:
    shares: dict[int, float] = {}
    for part in text.split(","):
        key, equals, share = part.partition("=")
        try:
            number = float(share)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(
                wanted="shares like 3=.7,5=.3", got=repr(part), attempt="--mixture 3=.7,5=.3"
            ) from None
        if _whole("--mixture key", key) in shares:
            raise InputError(
                wanted="every key once", got=f"key {key} twice", attempt="add its shares"
            )
        shares[int(key)] = number
    return shares


_TARGETS = {
    "copied": lambda text: _whole("--copy", text),
    "averaged": lambda text: [_whole("--average", part) for part in text.split(",")],
    "mixed": _shares,
}


def _render(console: Console, design: Any, data: dict[str, Any]) -> None:
    console.print(f"{design.target}: [bold]{design.status}[/bold]")
    if design.message:
        console.print(design.message)
    table = Table("", "", show_header=False, box=None, pad_edge=False)
    for name, value in _lines(design, data["certificate"]):
        table.add_row(name, value)
    console.print(table)
    if design.status in ("reached", "nearest"):
        console.print(_weights(design))
    if design.proof is not None:
        console.print(_proof_lines(design.proof))
    for path in data.get("figures", []):
        console.print(f"wrote {path}", soft_wrap=True, markup=False)


def _lines(design: Any, certificate: dict[str, Any]) -> list[tuple[str, str]]:
    gap = 1 - design.lower_bound / design.norm if design.norm and design.lower_bound else None
    lines = [
        (
            "leak",
            f"{design.leak:.6g}  (asked {design.leak_asked:g}, certified {certificate['leak_bound']:.6g})",
        ),
        (
            "sharpness",
            f"{design.sharpness:.6g}  (lead of the target's weakest key, in query units)",
        ),
        (
            "query length",
            f"{design.norm:.8g}"
            + (f"  (shortest possible, to {gap:.1e})" if gap is not None else ""),
        ),
        ("heads", f"{len(design.mix)}  mix {', '.join(f'{x:.4g}' for x in design.mix[:8])}"),
    ]
    if design.status == "reached" and len(design.target.support) > 1:
        bent, allowed = float(certificate["ratio_error"]), float(certificate["ratio_allowed"])
        lines.append(
            ("ratio", f"that of the shares to {bent:.1e}  (rounding explains {allowed:.1e})")
        )
    if design.ceiling is not None:
        what = "in the ratio of the shares " * (len(design.target.support) > 1)
        lines.append(
            (
                "ceiling",
                f"{design.ceiling:.6g}  (the most weight any query {what}puts on the target)",
            )
        )
    if design.robust is not None:
        r = design.robust
        lines += [
            (
                "squared error",
                f"{r.error:.6g} exact, {r.sampled:.6g} +- {r.sampled_error:.1g} sampled",
            ),
            ("textbook heads", f"{r.textbook:.6g} exact, {r.textbook_sampled:.6g} sampled"),
            ("gain", f"{r.gain:.3g} times smaller, queries no longer than {r.budget:.4g}"),
        ]
    holds = f"holds ({certificate['method']})"
    fails = ("without noise: " if design.robust else "") + "; ".join(certificate["failures"])
    lines.append(("certificate", holds if certificate["holds"] else fails))
    return lines


def _weights(design: Any) -> Table:
    table = Table("key", "share", "weight", "", title="weights")
    shares = dict(zip(design.target.support, design.target.shares, strict=True))
    order = sorted(range(len(design.weights)), key=lambda i: -design.weights[i])[:_MOST_ROWS]
    for i in order:
        weight = float(design.weights[i])
        share = f"{shares[i]:.4f}" if i in shares else "-"
        table.add_row(str(i), share, f"{weight:.6f}", "█" * round(24 * weight))
    return table


def _proof_lines(proof: Any) -> str:
    from headwright.design.proofs.proof import Combination

    if isinstance(proof, Combination):
        left = _sum(proof.inside_coefficients, proof.inside)
        return f"proof: {left} = {_sum(proof.outside_coefficients, proof.outside)}"
    return f"proof: {_sum(proof.coefficients, proof.keys)} = 0, while the wanted logits give {proof.imbalance:.6g}"


def _sum(coefficients: Any, keys: Any) -> str:
    terms = [f"{c:.4g} k_{i}" for c, i in zip(coefficients, keys, strict=True) if c][:_MOST_ROWS]
    return " + ".join(terms) + (" + ..." if len(keys) > _MOST_ROWS else "")
