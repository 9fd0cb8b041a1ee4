"""`headwright stress`: what random keys do to the output of a query, a design or several heads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.conventions import ARRAY, Outputs, Reply
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.noise.stress import Setting, Stress
    from headwright.result import Estimate

_MOST_ROWS = 8
_VERSIONS = (1, 2)  # queries, mix, scale and bias are the same in both
_TINY = 1e-9


@headwright_command("stress")
@click.option("--keys", "K", type=ARRAY, required=True, help="Mean keys, n x d.")
@click.option("--values", "V", type=ARRAY, required=True, help="Values, n x v.")
@click.option("--design", metavar="D.json", help="Heads saved by `headwright design --save`.")
@click.option(
    "--query", "q", type=ARRAY, default=None, help="One query (d), or one per head (h x d)."
)
@click.option(
    "--noise",
    required=True,
    metavar="LAW",
    help="e.g. isotropic=1e-4,radial@3=0.5 or bits=4/channel/32.",
)
@click.option(
    "--method", type=click.Choice(["exact", "sampled", "limit"]), default="exact", show_default=True
)
@click.option("--mix", type=ARRAY, default=None, help="Weights of the heads; equal if not given.")
@click.option(
    "--scale", type=float, default=None, help="Factor on the scores, e.g. 1/sqrt(d).  [default: 1]"
)
@click.option("--bias", type=ARRAY, default=None, help="Added to the logits, one number per key.")
@click.option(
    "--samples", type=int, default=2**16, show_default=True, help="With --method sampled."
)
@click.option("--seed", type=int, default=0, show_default=True, help="With --method sampled.")
@click.option(
    "--key",
    type=int,
    default=None,
    help="Follow the weight of this key.  [default: each head's strongest]",
)
@click.option(
    "--target", type=ARRAY, default=None, help="Wanted output.  [default: the output without noise]"
)
@click.option(
    "--tau",
    type=float,
    default=None,
    help="Far off means further than this.  [default: a tenth of V]",
)
@click.option(
    "--sigmas", type=float, default=3.0, show_default=True, help="Box of logits for the worst case."
)
@click.option(
    "--beside",
    type=ARRAY,
    default=None,
    help="Other queries to draw beside; one head if not given.",
)
@click.option("--out", type=click.Path(file_okay=False), help="Write figures into this folder.")
def command(
    K: Any, V: Any, noise: str, method: str, out: str | None, beside: Any, **asked: Any
) -> Reply:
    """Mean and covariance of the output when the keys are random, how often a head loses its key,
    and the worst case.

    Exit 0 if the numbers are as accurate as promised, 1 if not.
    """
    from headwright.noise.stress import stress

    setting = _setting(K, V, noise, asked)
    options: dict[str, Any] = {name: asked[name] for name in ("target", "tau", "sigmas", "key")}
    with _bar(method) as progress:
        if method == "sampled":
            options |= {"samples": asked["samples"], "seed": asked["seed"], "progress": progress}
        found = stress(setting, method=method, **options)
    data = _data(setting, found)
    outputs = Outputs()
    if out:
        from headwright.noise.figures import figures

        other = _beside(setting, beside)
        drawn = outputs.attempt(lambda: figures(setting, found, Path(out), beside=other)) or []
        data["figures"] = [str(path) for path in drawn]
    done = found.moments.status == "done"
    return Reply(
        data,
        lambda console: _render(console, setting, found, data),
        holds=done,
        faults=outputs.faults,
    )


def _setting(K: Any, V: Any, noise: str, asked: dict[str, Any]) -> Setting:
    from headwright import attention, inputs
    from headwright.cli.heads.law import law_from_text
    from headwright.noise.stress import Setting

    if (asked["design"] is None) == (asked["q"] is None):
        raise InputError(
            wanted="one of --design and --query",
            got="neither" if asked["q"] is None else "both",
            attempt="--query '[1, 0, 2]'",
        )
    saved = {} if asked["design"] is None else _read_design(asked["design"])
    given = {
        name: saved.get(name) if asked[name] is None else asked[name]
        for name in ("mix", "scale", "bias")
    }
    q = saved["queries"] if saved else asked["q"]
    _, (q, V, mix, bias) = inputs.arrays(queries=q, values=V, mix=given["mix"], bias=given["bias"])
    keys = law_from_text(noise, K)
    Q = inputs.shape("queries", q if q.ndim == 2 else q[None, ...], "h", keys.means.shape[1])
    inputs.shape("values", V, len(keys), "v")
    if bias is not None:
        inputs.shape("bias", bias, len(keys))
    scale = inputs.number("scale", 1.0 if given["scale"] is None else given["scale"])
    return Setting(Q, keys, V, attention.head_mix(mix, like=Q), scale, bias)


def _read_design(path: str) -> dict[str, Any]:
    """The queries of a saved design. What it claims is for `headwright certify`; here only its
    heads are used."""
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as reason:
        raise InputError(
            wanted="a design saved as JSON",
            got=f"{Path(path).name}: {str(reason)[:80]}",
            attempt="--save D.json",
        ) from None
    if (
        not isinstance(body, dict)
        or body.get("version") not in _VERSIONS
        or not body.get("queries")
    ):
        raise InputError(
            wanted=f'a design of version {_VERSIONS[-1]} with "queries"',
            got=f"{Path(path).name} without them",
            attempt="save it again: headwright design ... --save D.json",
        )
    return body


def _beside(setting: Setting, beside: Any) -> Setting | None:
    """What to draw beside: the queries given, or, for several heads, the one head that has their
    sum as its query."""
    from dataclasses import replace

    from headwright import attention, inputs

    if beside is None and len(setting.queries) == 1:
        return None
    Q = setting.queries.sum(axis=0) if beside is None else beside
    Q = inputs.shape("beside", Q if Q.ndim == 2 else Q[None, ...], "h", setting.queries.shape[1])
    return replace(setting, queries=Q, mix=attention.head_mix(None, like=Q))


def _data(setting: Setting, found: Stress) -> dict[str, Any]:
    """The JSON document: the moments on top, everything else under its name."""
    from headwright.result import plain

    data = {"noise": repr(setting.keys), **plain(found.moments)}
    data["noiseless"] = found.noiseless
    data["squared_error"] = found.squared_error
    data["flip"] = None if found.limit is None else found.limit.flip
    data["winners"] = None if found.limit is None else found.limit.probabilities
    data["far"] = {"target": found.target, "tau": found.tau, "probability": found.far}
    data["weights"] = found.weights
    data["worst"] = {"sigmas": found.sigmas, "low": found.worst_low, "high": found.worst_high}
    return plain(data)


@contextmanager
def _bar(method: str) -> Iterator[Callable[[int, int], None] | None]:
    """Progress of a sampled run on a terminal, nothing elsewhere."""
    if method != "sampled" or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("sampling")
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _render(console: Console, setting: Setting, found: Stress, data: dict[str, Any]) -> None:
    m = found.moments
    n, h = len(setting.keys), len(setting.queries)
    console.print(f"{h} head{'s' * (h > 1)} on {n} keys; {setting.keys!r}; {m.method}")
    console.print(_coordinates(found))
    if found.weights:
        console.print(_laws(found))
    console.print(f"E ||c - target||^2 = {found.squared_error:.6g}")
    if found.far is not None:
        console.print(f"P(||c - target|| > {found.tau:g}) {_probability(found.far)}", markup=False)
    if found.limit is not None:
        for h, (chances, flip) in enumerate(
            zip(found.limit.probabilities, found.limit.flip, strict=True)
        ):
            order = np.argsort(-chances, kind="stable")[:2]
            first = ", ".join(f"key {i} {_share(chances[i])}" for i in order if chances[i] > 0)
            console.print(f"infinite sharpness, head {h + 1}: {first}; flip {_share(float(flip))}")
    size = "standard error" if m.method == "sampled" else "error at most"
    console.print(f"{size} {m.error:.1g}" + (f"; {m.status}" if m.status != "done" else ""))
    if m.message:
        console.print(m.message)
    for path in data.get("figures", ()):
        console.print(path, soft_wrap=True, markup=False)


def _probability(far: Estimate) -> str:
    """Value and error in the same unit; a count of none or of all is a bound, not a number."""
    from headwright.noise.tail_probability import CONFIDENCE

    if far.method != "sampled":
        return f"= {far.value:.4%} ({far.method}, error at most {100 * far.error:.1g}%)"
    if far.value in (0.0, 1.0):
        sign, bound = ("<", far.error) if far.value == 0.0 else (">", 1.0 - far.error)
        return f"{sign} {bound:.4%} (sampled, {CONFIDENCE:.0%} confidence)"
    return f"= {far.value:.4%} (sampled, +- {100 * far.error:.1g}%)"


def _share(probability: float) -> str:
    """Three decimals of a percentage, and no zero for what is not."""
    return "< 0.001%" if 0.0 < probability < 5e-6 else f"{probability:.3%}"


def _coordinates(found: Stress) -> Table:
    m = found.moments
    table = Table(
        "coordinate", "without noise", "mean", "deviation", "lowest", "highest",
        title=f"output; lowest and highest while no logit leaves {found.sigmas:g} deviations",
    )  # fmt: skip
    deviations = np.sqrt(np.maximum(np.diagonal(m.covariance), 0.0))
    unknown = np.full(len(m.mean), np.nan)
    ends = [unknown if end is None else end for end in (found.worst_low, found.worst_high)]
    columns = np.stack([found.noiseless, m.mean, deviations, *ends], axis=1)
    size = np.abs(columns[:, :3]).max(axis=1)
    shown = [j for j in np.argsort(-size, kind="stable")[:_MOST_ROWS] if size[j] >= _TINY] or [0]
    for j in sorted(shown):
        table.add_row(str(j), *(_number(x) for x in columns[j]))
    if len(shown) < len(columns):
        table.caption = f"{len(columns) - len(shown)} smaller coordinates: use --json"
    return table


def _number(x: Any, digits: int = 5) -> str:
    """Some digits; what is only rounding or leak far below them is shown as such, what was left out
    as a dash."""
    if np.isnan(x):
        return "-"
    return f"{float(x):.{digits}g}" if abs(x) >= _TINY or x == 0 else "~0"


def _laws(found: Stress) -> Table:
    from headwright.noise.stress import QUANTILES

    marks = (f"{p:.0%}" for p in QUANTILES)
    table = Table(
        "head", "key", "no noise", "mean", *marks, title="weight of the key, with quantiles"
    )
    for one in found.weights:
        numbers = (one.noiseless, one.mean, *(one.quantiles[p] for p in QUANTILES))
        table.add_row(str(one.head + 1), str(one.key), *(_number(x, 3) for x in numbers))
    return table
