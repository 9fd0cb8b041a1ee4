"""Properties of any attention layer, found by running it (`hw.xray`).

Reading order: `finding` and `record` (what comes back), `layer/` (what goes in, in one shape),
`intent` (what was meant), `rounding` (what is no break), `examination` and `examined` (probe after
probe), `asking` (the public function), then the probes: `structure/`, `agreement/`, `numerics/`;
`models/` are whole models. `script` repeats a counterexample, `page/` and `figure` show the record,
`alarm` limits the time, `demo` is a layer with a mistake. The names below are those of scripts.
"""

from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes

__all__ = ["Inputs", "Options", "Sizes", "layer_of"]
