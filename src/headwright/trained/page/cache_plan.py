"""The section of the page on the cache's bits: a map of the plan, layers down and key heads across,
and what decoding through it gave."""

from __future__ import annotations

from html import escape

import numpy as np

from headwright.report.style import ROLES
from headwright.trained.cache.budget.plan import LayerPlan, Plan
from headwright.trained.cache.coding.channels import EXACT
from headwright.trained.cache.decoded.decoding import Decoded, Mean
from headwright.trained.cache.decoded.outcome import Budgeted, Verified

_HEIGHT = 12
_WIDTH = 34
# Between the keys' columns and the values'.
_GAP = 14


def cache_plan_section(cache: Budgeted) -> str:
    plan = cache.plan
    verified = "" if cache.verified is None else _verified(cache.verified)
    warning = f"<p><b>Note:</b> {escape(plan.warning)}.</p>" if plan.warning else ""
    return (
        f"<section><h2>The cache in {plan.mean_bits:.2f} bits</h2>"
        f"<p>Bits per {plan.request.per}, where {escape(plan.signal)} says they matter; predicted "
        f"divergence of the next-token distribution {plan.predicted_kl:.3g} nats per token.</p>"
        f"{warning}<figure>{_map(plan)}<figcaption>Mean bits by layer (down) and key head "
        f"(across){_beside(plan)}; a fuller cell has more bits.</figcaption></figure>"
        f"{verified}</section>"
    )


def _beside(plan: Plan) -> str:
    return "" if plan.layers[0].values is None else ", keys on the left, values on the right"


def _map(plan: Plan) -> str:
    means = [_means(layer) for layer in plan.layers]
    known = np.concatenate([row for layer in means for row in layer])
    most = float(known.max())
    cells = []
    width = 0
    for line, layer in enumerate(means):
        x = 0
        for row in layer:
            for head, mean in enumerate(row):
                cells.append(_cell(x + head * _WIDTH, line, f"{line}.{head}", mean, most))
            x += len(row) * _WIDTH + _GAP
        width = max(width, x - _GAP)
    height = len(means) * _HEIGHT
    label = f"bits by layer and key head: from {known.min():.2f} to {most:.2f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{label}" fill="{ROLES["key"]}">'
        f"{''.join(cells)}</svg>"
    )


def _means(layer: LayerPlan) -> list[np.ndarray]:
    return [grid.bits.mean(axis=1) for grid in layer.grids]


def _cell(x: int, line: int, name: str, mean: float, most: float) -> str:
    opacity = 0.1 + 0.9 * mean / min(max(most, 1.0), EXACT)
    y = line * _HEIGHT
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" '
        f'fill-opacity="{opacity:.2f}"><title>{name}: {mean:.2f} bits</title></rect>'
    )


def _verified(verified: Verified) -> str:
    tokens = len(verified.plan.divergence)
    rows = _row("plan", verified.plan) + _row("uniform bits", verified.uniform)
    return (
        f"<p>Decoded through the cache on {tokens} tokens that the plan has not seen, against the "
        f"model as it is (perplexity {verified.untouched.perplexity.value:.4g}); in brackets 95% "
        "intervals over blocks of tokens.</p><div class='wide' tabindex='0'><table>"
        "<tr><th>cache</th>"
        "<th>KL, nats per token</th><th>perplexity</th><th>same top token</th></tr>"
        f"{rows}</table></div>"
    )


def _row(name: str, found: Decoded) -> str:
    cells = [_number(found.kl, ".3g"), _number(found.perplexity, ".4g"), _number(found.top1, ".1%")]
    shown = "".join(f"<td>{cell}</td>" for cell in cells)
    return f"<tr><td>{name}</td>{shown}</tr>"


def _number(mean: Mean, form: str) -> str:
    return (
        f"{mean.value:{form}} <span class='soft'>({mean.low:{form}} to {mean.high:{form}})</span>"
    )
