"""Which function a layer computes, as far as its weights tell:

    output_i = sum_j w_ij v_j,   w_ij = exp(l_ij) / (sum_j exp(l_ij) + exp(sink)),
    l_ij = cap tanh(scale q_i . k_j / cap) + bias_ij

without a cap l_ij = scale q_i . k_j + bias_ij, and without a sink its term is missing. Keys that a
query does not see have the bias -inf. A bias is known up to a number per query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.probes.layer.inputs import Inputs


@dataclass(frozen=True)
class Law:
    scale: float
    bias: np.ndarray  # (h, t, n)
    cap: float | None = None
    sink: np.ndarray | None = None  # (h,)
    normalised: bool = False  # queries and keys are divided by their lengths first
    eps: float = 0.0  # of the dtype that it was fitted in
    head_scales: np.ndarray | None = None  # (h,), where heads differ

    def products(self, given: Inputs) -> np.ndarray:
        """(b, h, t, n), in double precision."""
        return products(given["q"], given["k"], normalised=self.normalised)

    def logits(self, given: Inputs) -> np.ndarray:
        scales = self.scale if self.head_scales is None else self.head_scales[:, None, None]
        scaled = scales * self.products(given)
        bent = scaled if self.cap is None else self.cap * np.tanh(scaled / self.cap)
        return bent + self.bias

    def output(self, given: Inputs) -> np.ndarray:
        """In the precision of the inputs; rows that see nothing are NaN."""
        return softmax(self.logits(given), self.sink) @ given["v"]

    @property
    def sees(self) -> np.ndarray:
        return np.isfinite(self.bias)

    def line(self) -> str:
        """NumPy that computes `exact`, the output for the inputs x."""
        made = "q, k = x['q'], x['k']\n"
        if self.normalised:
            made += "q, k = [a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (q, k)]\n"
        made += f"z = {self.scale!r} * q @ np.swapaxes(k, -1, -2)\n"
        if self.cap is not None:
            made += f"z = {self.cap!r} * np.tanh(z / {self.cap!r})\n"
        made += self._bias_lines() + "w = np.exp(z - z.max(-1, keepdims=True))\n"
        made += "total = w.sum(-1, keepdims=True)\n"
        if self.sink is not None:
            sinks = f"np.array({self.sink.tolist()})[:, None, None]"
            made += f"total = total + np.exp({sinks} - z.max(-1, keepdims=True))\n"
        return made + "exact = w / total @ x['v']  # in double precision\n"

    def _bias_lines(self) -> str:
        if not self.bias.any():
            return ""
        t, n = self.bias.shape[-2:]
        seen = self.sees
        if not self.bias[seen].any() and (seen == np.tri(t, n, n - t, dtype=bool)).all():
            return f"z = np.where(np.tri({t}, {n}, {n - t}, dtype=bool), z, -np.inf)\n"
        rows = np.where(seen, np.round(self.bias, 9), -np.inf).tolist()
        return f"inf = np.inf\nz = z + np.array({rows})\n"


def products(q: np.ndarray, k: np.ndarray, *, normalised: bool = False) -> np.ndarray:
    if normalised:
        q = q / np.linalg.norm(q, axis=-1, keepdims=True)
        k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return q @ np.swapaxes(k, -1, -2)


def softmax(logits: np.ndarray, sink: np.ndarray | None = None) -> np.ndarray:
    """Along the last axis, in the precision of the logits."""
    most = logits.max(axis=-1, keepdims=True)
    if sink is not None:
        most = np.maximum(most, sink[:, None, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        raised = np.exp(logits - most)
        total = raised.sum(axis=-1, keepdims=True)
        if sink is not None:
            total = total + np.exp(sink[:, None, None] - most)
        return raised / total
