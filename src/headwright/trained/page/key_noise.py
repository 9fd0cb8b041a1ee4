"""The section of the page on keys stored in few bits: a table of all settings, prediction against
measurement, and the fewest bits per head."""

from __future__ import annotations

from headwright.report import style
from headwright.trained.cache.key_noise import UNSETTLED, KeyNoise, budget_counts
from headwright.trained.cache.quantise import PER


def key_noise_section(noise: KeyNoise) -> str:
    rows = []
    for setting in noise.settings:
        bits, per, *numbers = setting.line()
        cells = "".join(f"<td>{number}</td>" for number in numbers)
        rows.append(f"<tr><td>{bits}</td><td>per {per}</td>{cells}</tr>")
    return (
        "<section><h2>Keys stored in few bits</h2><p>How far each head's output moves when its "
        "keys are rounded, relative to the output: predicted from the exact moments of a head with "
        "random keys, and measured by really rounding the keys. ± is the median standard error "
        "over the sampled rows.</p>"
        "<div class='wide' tabindex='0'><table>"
        "<tr><th>bits</th><th>step shared</th><th>predicted, median</th>"
        "<th>measured, median</th><th>rank correlation</th></tr>"
        f"{''.join(rows)}</table></div>{_scatter(noise)}"
        f"<h3>Fewest bits per key head</h3>{_budgets(noise)}</section>"
    )


# More dots than this are drawn as one picture: each alone would be a line of the page.
_MOST_DOTS = 3000
# Settings of the same bits have the same colour
_MARKS = {"token": "o", "channel": "s"}


def _scatter(noise: KeyNoise) -> str:
    title = "Predicted against measured output error, one dot per head and setting"
    with style.figure(5.2, 3.4) as (drawing, axes):
        widths = sorted({setting.bits for setting in noise.settings})
        for setting in noise.settings:
            # A logarithm needs errors above 0.
            shown = (setting.predicted > 0) & (setting.measured > 0)
            axes.loglog(
                setting.predicted[shown],
                setting.measured[shown],
                _MARKS[setting.per],
                ms=3.5,
                alpha=0.6,
                rasterized=len(noise.places) * len(noise.settings) > _MOST_DOTS,
                color=style.SERIES[widths.index(setting.bits) % len(style.SERIES)],
                label=setting.name,
            )
        axes.axline((1e-3, 1e-3), (1.0, 1.0), color=style.ROLES["muted"], lw=0.8)
        axes.set(xlabel="predicted output error", ylabel="measured output error")
        axes.legend(loc="upper left")
        svg = style.svg(drawing, title=title)
    return f"<figure>{svg}<figcaption>{title}.</figcaption></figure>"


def _budgets(noise: KeyNoise) -> str:
    lines = []
    for per in PER:
        for one in noise.budgets(per=per):
            lines.append(
                f"<tr><td>{one['error']:.0%}</td><td>per {per}</td>"
                f"<td>{budget_counts(one['bits'])}</td><td>{one['unsettled']}</td></tr>"
            )
    return (
        "<p>From the prediction, for the worst head that reads a key head. Unsettled: key heads "
        "whose answer changes within "
        f"{UNSETTLED:g} standard errors.</p>"
        "<div class='wide' tabindex='0'><table><tr><th>output error</th><th>step shared</th>"
        f"<th>key heads by bits</th><th>unsettled</th></tr>{''.join(lines)}</table></div>"
    )
