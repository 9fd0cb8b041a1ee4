"""`headwright stress`: what random keys do to the output of a query, a design or several heads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from headwright import attention, inputs
from headwright.cli.arguments import SCALE
from headwright.cli.conventions import Outputs, Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options
from headwright.cli.heads.law import law_from_text
from headwright.cli.heads.stress_view import render
from headwright.errors import InputError
from headwright.result import plain

if TYPE_CHECKING:
    from headwright.noise.stress import NoisyHeads, Stress

_METHODS = click.Choice(["exact", "sampled", "limit"])
_SCALE = "Factor on the scores; d is the width of the keys.  [default: the design's, or 1]"
_NOISE = "e.g. isotropic=1e-4,radial@3=0.5 (of key 3, from 0) or bits=4/channel/32."
_METHOD = "Exact integrals, samples, or the limit of infinite sharpness."
_SAMPLED = "With --method sampled."
_KEY = "Follow the weight of this key (from 0).  [default: each head's strongest]"


@headwright_command(
    "stress",
    demo={
        "--keys": "[[1, 0], [0, 1], [-1, -1]]",
        "--values": "[[1, 0], [0, 1], [5, 5]]",
        "--query": "[4, 4]",
        "--noise": "isotropic=1e-3,radial@0=0.1",
    },
    rivals=("--query", "--design"),
)
@options.array("--keys", "K", "Mean keys, n x d, one per row; counted from 0.", required=True)
@options.VALUES
@click.option("--design", metavar="D.json", help="Heads saved by `headwright design --save`.")
@options.array("--query", "q", "One query (d), or one per head (h x d): head 1, ..")
@click.option("--noise", required=True, metavar="LAW", help=_NOISE)
@click.option("--method", type=_METHODS, default="exact", show_default=True, help=_METHOD)
@options.array("--mix", "mix", "Weights of the heads; equal if not given.")
@click.option("--scale", type=SCALE, metavar=SCALE.name, help=_SCALE)
@options.BIAS
@click.option("--samples", type=int, default=2**16, show_default=True, help=_SAMPLED)
@click.option("--seed", type=int, default=0, show_default=True, help=_SAMPLED)
@click.option("--key", type=int, default=None, help=_KEY)
@options.array("--target", "target", "Wanted output.  [default: the output without noise]")
@options.number("--tau", "Far off means further than this.  [default: a tenth of V]")
@options.number(
    "--sigmas", "Worst case: no logit moves further than this many deviations.", default=3.0
)
@options.array("--beside", "beside", "Other queries to draw for comparison; one head if not given.")
@options.FIGURES
def command(
    K: Any, V: Any, noise: str, method: str, out: str | None, beside: Any, **asked: Any
) -> Reply:
    """Mean and covariance of the output when the keys are random, how often a head loses its key,
    and the worst case.

    Exit 0 if the numbers are as accurate as promised, 1 if not.
    """
    setting = _setting(K, V, noise, asked)
    found = _found(setting, method, asked)
    data = _data(setting, found)

    outputs = Outputs()
    if out:
        from headwright.noise.figures import figures

        other = _beside(setting, beside)
        drawn = outputs.attempt(lambda: figures(setting, found, Path(out), beside=other)) or []
        data["figures"] = [str(path) for path in drawn]

    return Reply(
        data,
        lambda console: render(console, setting, found, data.get("figures", ())),
        holds=found.moments.status == "done",
        faults=outputs.faults,
    )


def _found(setting: NoisyHeads, method: str, asked: dict[str, Any]) -> Stress:
    from headwright.noise.stress import stress

    wanted: dict[str, Any] = {name: asked[name] for name in ("target", "tau", "sigmas", "key")}
    if method != "sampled":
        return stress(setting, method=method, **wanted)

    wanted["samples"] = asked["samples"]
    wanted["seed"] = asked["seed"]
    with progress_bar("sampling") as step:
        return stress(setting, method=method, progress=step, **wanted)


def _setting(K: Any, V: Any, noise: str, asked: dict[str, Any]) -> NoisyHeads:
    """The heads as given or saved, on keys with noise; all shapes checked."""
    from headwright.design.saved.document import read_heads
    from headwright.noise.stress import NoisyHeads

    if (asked["design"] is None) == (asked["q"] is None):
        got = "neither" if asked["q"] is None else "both"
        attempt = "--query '[1, 0, 2]'"
        raise InputError(wanted="one of --design and --query", got=got, attempt=attempt)

    saved = {} if asked["design"] is None else read_heads(Path(asked["design"]))
    given = {"queries": saved["queries"] if saved else asked["q"]}
    for name in ("mix", "bias"):
        given[name] = saved.get(name) if asked[name] is None else asked[name]
    scale = saved.get("scale", 1.0) if asked["scale"] is None else asked["scale"].of(K)

    _, (q, V, mix, bias) = inputs.arrays(
        queries=given["queries"], values=V, mix=given["mix"], bias=given["bias"]
    )
    keys = law_from_text(noise, K)
    n, d = keys.means.shape
    Q = _one_per_head("queries", q, d)
    inputs.shape("values", V, n, "v")
    if bias is not None:
        inputs.shape("bias", bias, n)
    scale = inputs.number("scale", scale)
    return NoisyHeads(Q, keys, V, attention.head_mix(mix, like=Q), scale, bias)


def _one_per_head(name: str, q: Any, d: int) -> Any:
    """One query is the query of one head."""
    several = q if q.ndim == 2 else q[None, ...]
    return inputs.shape(name, several, "h", d)


def _beside(setting: NoisyHeads, beside: Any) -> NoisyHeads | None:
    """What to draw for comparison: the queries given, or, for several heads, the one head that has
    their sum as its query."""
    if beside is None and len(setting.queries) == 1:
        return None
    q = setting.queries.sum(axis=0) if beside is None else beside
    Q = _one_per_head("beside", q, setting.queries.shape[1])
    return replace(setting, queries=Q, mix=attention.head_mix(None, like=Q))


def _data(setting: NoisyHeads, found: Stress) -> dict[str, Any]:
    """The JSON document: the moments on top, everything else under its name."""
    data = {"noise": repr(setting.keys), **plain(found.moments)}
    data["noiseless"] = found.noiseless
    data["squared_error"] = found.squared_error
    data["flip"] = None if found.limit is None else found.limit.flip
    data["winners"] = None if found.limit is None else found.limit.probabilities
    data["far"] = {"target": found.target, "tau": found.tau, "probability": found.far}
    data["weights"] = found.weights
    data["worst"] = {"sigmas": found.sigmas, "low": found.worst_low, "high": found.worst_high}
    return plain(data)
