"""Properties of any attention layer, found by running it (`hw.xray`).

Reading order: `record` (what comes back), `layer/` (what goes in, in one shape), `intent` (what was
meant), `rounding` (what is no break), `examination` and `examined` (probe after probe), then the
probes: `structure/`, `agreement/`, `numerics/`. `script` repeats a counterexample, `page` and
`drawn` show the record. The names below are those that scripts use.
"""

from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes

__all__ = ["Inputs", "Options", "Sizes", "layer_of"]
