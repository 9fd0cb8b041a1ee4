"""`headwright audit` as jobs: where they run, where results are kept, and what they cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.cli.crew_bar import Tally, counted
from headwright.cli.crew_options import refuse_two_places, saying_how_to_go_on, store_of
from headwright.errors import InputError


@dataclass(frozen=True)
class Where:
    """Jobs of one model and one text each: how many at a time, or on which cluster, and the store's
    folder."""

    workers: int | None
    cluster: str | None
    store: Path | None

    def audits(self, models: Sequence[str], texts: Sequence[str], asked: dict[str, Any]) -> Any:
        from headwright.crew.executor import chosen
        from headwright.trained.jobs.many import audits

        tally = Tally(len(models) * len(texts))

        def watch(outcomes: Any) -> Any:
            return counted(outcomes, "texts", tally)

        with (
            saying_how_to_go_on(self.store, tally, "texts"),
            chosen(self.workers, self.cluster) as executor,
            store_of(self.store, "audit") as store,
        ):
            how = {"executor": executor, "store": store, "watch": watch}
            return list(audits(models, texts, **how, **asked))


def taken(asked: dict[str, Any]) -> Where | None:
    """Takes --workers, --cluster and --store out of what was asked. None where nothing was said
    about jobs: then the audit runs in this process."""
    where = Where(*(asked.pop(name) for name in ("workers", "cluster", "store")))
    refuse_two_places(where.workers, where.cluster)
    return None if where == Where(None, None, None) else where


def refuse(where: Where | None, models: Sequence[str], words: Any, **alone: Any) -> None:
    """What asks about one model, in this process."""
    given = [name for name, value in alone.items() if value is not None]
    if len(models) == 1 and "against" in given:
        given.remove("against")
    if given:
        flag = "--" + given[0].replace("_", "-")
        got = "several models" if len(models) > 1 else "--workers, --cluster or --store"
        raise InputError(wanted=f"one model for {flag}", got=got, attempt="run it separately")
    if where is not None and not isinstance(words, list):
        raise InputError(
            wanted="texts for --workers, --cluster or --store",
            got="other inputs",
            attempt="--text FILE.txt, or leave these options out",
        )
