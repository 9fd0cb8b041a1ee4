"""The options of `headwright audit` that plan the cache, and how the plan is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.arguments import whole_numbers
from headwright.cli.conventions import Outputs, progress, progress_bar
from headwright.cli.terminal.screen import fitted
from headwright.errors import InputError

_BUDGET = "Bits per number of the key cache, on average: plan where they go."
_PER = "What gets its own number of bits; directions are a basis made for every key head."
_SIGNAL = "What decides: energy (default per channel) or fisher (one backward pass)."
_VALUES = "Plan keys and values together, at the same mean."
_FIRST = "Keep this many first tokens exact; they count in the mean."
_WIDTHS = "Bit widths a plan may use. [default: 1 to 8; 2 to 8 for a mean of 3 or more]"
_VERIFY = "Decode this text through the planned cache; may be repeated."
_EXPORT = "FORMAT: transformers, kvtuner, vllm, llamacpp; may be repeated."

_OPTIONS = (
    click.option("--cache-budget", type=float, default=None, metavar="BITS", help=_BUDGET),
    click.option("--per", default="channel", metavar="direction|channel|head|layer", help=_PER),
    click.option("--signal", default=None, metavar="energy|fisher", help=_SIGNAL),
    click.option("--values", is_flag=True, help=_VALUES),
    click.option("--keep-first", type=int, default=0, metavar="N", help=_FIRST),
    click.option("--widths", default="", metavar="2,4,8", help=_WIDTHS),
    click.option("--verify", type=click.Path(), multiple=True, metavar="TEXT", help=_VERIFY),
    click.option("--export", "exports", multiple=True, metavar="FORMAT=FILE", help=_EXPORT),
)
_NAMES = ("per", "signal", "values", "keep_first")


def cache_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class CacheWish:
    """What was asked about the cache: the plan's options, texts to verify on, files to write."""

    options: dict[str, Any]
    verify: list[str]
    exports: list[tuple[str, Path]]

    def audited(self, model: str, words: Any, asked: dict[str, Any]) -> Any:
        """The audit of a language model, loaded once for its cards and its cache."""
        from headwright.trained import audit
        from headwright.trained.cache.budgeting import language_model

        name, live, tokenizer = language_model(model)
        budgeted = self._planned(live, words, tokenizer, asked["tokens"])
        with progress_bar("layers") as step:
            result = audit(live, list(words), tokenizer=tokenizer, progress=step, **asked)
        return replace(result, model=name, cache=budgeted)

    def _planned(self, live: Any, words: Sequence[str], tokenizer: Any, tokens: int | None) -> Any:
        """The plan, and what it does on the verification texts. What a format cannot say is refused
        before the verification, which takes longest."""
        from headwright.trained.cache import budgeting
        from headwright.trained.cache.exports.formats import refuse_unsayable

        told = {"tokenizer": tokenizer, "tokens": tokens, "progress": progress}
        plan = budgeting.cache_plan(live, list(words), **told, **self.options)
        for name, _ in self.exports:
            refuse_unsayable(plan, name)
        if not self.verify:
            return budgeting.Budgeted(plan)
        found = budgeting.verify(live, plan, self.verify, calibration=words, **told)
        return budgeting.Budgeted(plan, found)

    def write(self, budgeted: Any, outputs: Outputs) -> None:
        from headwright.trained.cache.exports.formats import export

        for name, path in self.exports:
            outputs.attempt(lambda name=name, path=path: export(budgeted.plan, name, path))


def taken(asked: dict[str, Any], words: Any, read: Callable[[str], str]) -> CacheWish | None:
    """Takes the options of the cache out of `asked`; None where no budget was given. What can be
    refused without a model is refused here."""
    bits = asked.pop("cache_budget")
    options = {name: asked.pop(name) for name in _NAMES}
    widths = asked.pop("widths")
    verify = asked.pop("verify")
    exports = asked.pop("exports")
    if bits is None:
        _refuse_alone(options | {"widths": widths, "verify": verify, "export": exports})
        return None

    from headwright.trained.cache.budgeting import BudgetOptions
    from headwright.trained.cache.decoded.overlap import refuse_overlap
    from headwright.trained.cache.exports.formats import parsed

    attempt = "--widths 2,4,8"
    options["bits"] = bits
    if widths:
        options["widths"] = tuple(whole_numbers(widths, wanted="bits like 2,4,8", attempt=attempt))
    options["seed"] = asked["seed"]
    BudgetOptions(**options)
    if not isinstance(words, list):
        raise InputError(wanted="texts to plan a cache on", got="other inputs", attempt="--text")
    texts = [read(path) for path in verify]
    refuse_overlap(words, texts)
    return CacheWish(options, texts, [parsed(one) for one in exports])


def _refuse_alone(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value and value != "channel"]
    if given:
        flags = ", ".join("--" + name.replace("_", "-") for name in given)
        raise InputError(
            wanted=f"--cache-budget with {flags}", got="none", attempt="--cache-budget 3"
        )


# ---------------------------------------------------------------------------------- for people

_MOST_ROWS = 24


def show(console: Console, budgeted: Any) -> None:
    """The plan in a few lines, then what decoding through it gave."""
    plan = budgeted.plan
    per = plan.request.per
    console.print(
        f"cache plan: {plan.mean_bits:.2f} bits per {per} by {plan.signal}, predicted KL "
        f"{plan.predicted_kl:.3g} per token (ranges: {plan.range_bytes / 1000:.0f} kB, once)"
    )
    console.print(fitted(_layers(plan), console))
    hidden = len(plan.layers) - _MOST_ROWS
    if hidden > 0:
        console.print(f"{hidden} more layers: --json, --html or --export")
    if budgeted.verified is not None:
        console.print(fitted(_verified(budgeted.verified), console))
    if plan.warning:
        console.print(f"note: {plan.warning}")


def _layers(plan: Any) -> Table:
    table = Table("layer", "bits of the keys, by key head", title="mean bits by layer and key head")
    with_values = any(layer.values is not None for layer in plan.layers)
    if with_values:
        table.add_column("of the values")
    for index, layer in enumerate(plan.layers[:_MOST_ROWS]):
        cells = [_heads(grid.bits) for grid in layer.grids]
        table.add_row(str(index), *cells)
    return table


def _heads(bits: Any) -> str:
    return " ".join(f"{head.mean():.1f}" for head in bits)


def _verified(verified: Any) -> Table:
    tokens = len(verified.plan.divergence)
    title = f"decoded through the cache: {tokens} tokens, 95% intervals"
    table = Table("cache", "KL", "perplexity", "same top token", title=title)
    for name, found in (("plan", verified.plan), ("uniform", verified.uniform)):
        kl = found.kl
        table.add_row(
            name, _range(kl, ".3g"), _range(found.perplexity, ".4g"), _range(found.top1, ".1%")
        )
    table.add_row("untouched", "0", _range(verified.untouched.perplexity, ".4g"), "100.0%")
    return table


def _range(mean: Any, form: str) -> str:
    half = (mean.high - mean.low) / 2
    return f"{mean.value:{form}} ± {half:{form}}"
