"""What every route to the moments returns: the same record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.errors import InputError
from headwright.noise.problem import as_given
from headwright.report import charts, notebook
from headwright.result import to_numpy
from headwright.types import Array, Float, Values

_ERRORS = ("error", "mean_error", "covariance_error")
_ARRAYS = (
    "mean",
    "covariance",
    "weights_mean",
    "weights_variance",
    "heads_mean",
    "heads_weights_mean",
)


@dataclass(frozen=True, repr=False)
class Moments:
    """Mean and covariance of `c = sum_h mix_h c_h`. A batch of queries puts its axis m in front of
    each array.

    No entry is further than `error` from the truth (sampled: one standard error)."""

    mean: Float[Array, "*m v"]
    covariance: Float[Array, "*m v v"]
    weights_mean: Float[Array, "*m n"]  # of the mixed weights sum_h mix_h alpha_h
    weights_variance: Float[Array, "*m n"]
    error: float
    method: str
    status: str = "done"  # "done", or why the promised accuracy was not reached
    message: str = ""
    mean_error: float = 0.0  # the same bound for the mean alone
    covariance_error: float = 0.0  # and for the covariance alone
    heads_mean: Float[Array, "*m h v"] | None = None  # E[c_h]
    heads_weights_mean: Float[Array, "*m h n"] | None = None  # E[alpha_h]

    def __repr__(self) -> str:
        *batch, v = self.mean.shape
        groups = f"{batch[0]} groups, " if batch else ""
        outputs = f"{groups}output of {v} coordinate{'s' * (v != 1)}"
        largest_deviation = float(self._deviations.max())
        size = "standard error" if self.method == "sampled" else "error at most"
        status = "" if self.status == "done" else f"; {self.status}"
        return (
            f"<Moments ({self.method}): {outputs}, largest deviation {largest_deviation:.4g}, "
            f"{size} {self.error:.1g}{status}>"
        )

    def _repr_html_(self) -> str:
        """For a notebook: mean and deviation of the coordinates; of a batch, of its first group."""
        mean, deviation = self._first()
        shown = charts.largest(np.abs(mean) + deviation)[: notebook.MOST_ROWS]
        rows = [(str(j), f"{mean[j]:.5g}", f"{deviation[j]:.5g}") for j in shown]
        header = ("coordinate", "mean", "deviation")
        return notebook.cell(repr(self)[1:-1], rows, header=header, more=len(mean) - len(rows))

    def plot(self) -> Any:
        """Mean and one deviation to both sides of every coordinate (the largest of very many), as a
        figure of matplotlib; of a batch, the means of all groups."""
        if self.mean.ndim > 1:
            title = "mean output"
            table = to_numpy(self.mean).astype(float)
            return charts.shades(table, title=title, across="coordinate", down="group")
        mean, deviation = self._first()
        shown = charts.largest(np.abs(mean) + deviation)
        return charts.bars(
            [str(j) for j in shown],
            mean[shown],
            spread=deviation[shown],
            title="output: mean and one deviation",
            across="coordinate",
            up="output",
            role="output",
        )

    @property
    def _deviations(self) -> Float[np.ndarray, "*m v"]:
        variances = np.diagonal(to_numpy(self.covariance), axis1=-2, axis2=-1)
        return np.sqrt(np.maximum(variances, 0.0)).astype(float)

    def _first(self) -> tuple[Float[np.ndarray, "v"], Float[np.ndarray, "v"]]:
        """Mean and deviations of the output; of a batch, of its first group."""
        v = self.mean.shape[-1]
        mean = to_numpy(self.mean).astype(float).reshape(-1, v)
        return mean[0], self._deviations.reshape(-1, v)[0]


def in_precision(found: Moments, values: Values) -> Moments:
    """`found` in the library, on the device and in the precision of the values, in which it is
    rounded once more."""
    if found.mean.dtype == values.dtype:
        return found
    unit = float(compat.array_namespace(values).finfo(values.dtype).eps)
    mean = unit * largest(found.mean)
    covariance = unit * largest(found.covariance)
    weights = unit * largest(found.weights_mean)

    arrays = {name: getattr(found, name) for name in _ARRAYS}
    with np.errstate(over="ignore", under="ignore"):
        arrays = {name: as_given(x, values) for name, x in arrays.items() if x is not None}
    return replace(
        found,
        mean_error=found.mean_error + mean,
        covariance_error=found.covariance_error + covariance,
        error=found.error + max(mean, covariance, weights),
        **arrays,
    )


def largest(array: Array) -> float:
    """The largest size of an entry."""
    xp = compat.array_namespace(array)
    return float(xp.max(xp.abs(array)))


def finite(found: Moments) -> Moments:
    """Refuse what is no number: squares of the values leave the range of their precision first."""
    xp = compat.array_namespace(found.mean)
    if not all(bool(xp.all(xp.isfinite(x))) for x in (found.mean, found.covariance)):
        raise InputError(
            wanted=f"values whose mean and covariance are numbers in {found.mean.dtype}",
            got="a covariance beyond them",
            attempt="pass V in double precision, or divide it by a power of ten: the covariance "
            "goes with its square",
        )
    return found


def stacked(results: list[Moments]) -> Moments:
    """Arrays stacked along a new first axis, the worst error, the first status that is not done."""
    xp = compat.array_namespace(results[0].mean)
    spokesman = next((r for r in results if r.status != "done"), results[0])
    gathered = {}
    for name in (field.name for field in fields(Moments)):
        column = [getattr(result, name) for result in results]
        if name in _ERRORS:
            gathered[name] = max(column)
        elif name in _ARRAYS and column[0] is not None:
            # One alone needs no copy.
            gathered[name] = xp.stack(column) if len(column) > 1 else column[0][None, ...]
        else:
            gathered[name] = getattr(spokesman, name)
    return Moments(**gathered)


def alone(found: Moments) -> Moments:
    """The record of a batch of one, without the axis of the batch."""
    arrays = {name: getattr(found, name) for name in _ARRAYS}
    return replace(found, **{name: x[0, ...] for name, x in arrays.items() if x is not None})
