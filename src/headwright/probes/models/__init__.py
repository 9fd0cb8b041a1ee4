"""A whole transformers model: every attention layer alone, and the model from its embeddings on.

Reading order: `recording/` (how a model calls its attention modules), `subjects` (modules and
models as layers that probes can run), `intents` (what the configuration says a layer should do),
`parts` (layer 3 of the encoder in sdpa, by name), `implementations` (eager against sdpa),
`explained` (findings that the configuration explains), `attending` and `by_function` (the attention
function inside a layer), `merged` (one table from many), `probed` (the question itself).
"""

from headwright.probes.models.parts import function_of, opened_model, part_of
from headwright.probes.models.probed import xray_model

__all__ = ["function_of", "opened_model", "part_of", "xray_model"]
