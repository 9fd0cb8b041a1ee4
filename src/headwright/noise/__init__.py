"""What happens on average, and at worst, when keys are random: `moments` and `worst_case`.

Reading order: `moments` (which route?), `problem` (what was asked), `few` (one head on few keys,
many queries at once), `exact` and its folders `head`, `many` and `heads`, `sampling`, `limit`;
`rounding` and `budget` (how far off), `record` (what comes back). Other questions: `conditioned`
and `distribution` (the law of one weight), `tail_probability` (how often far off?), `worst`;
`gradient` is for robust design; `stress` asks them all, `figures` draws the answers.
"""

from headwright.noise.distribution import weight_distribution
from headwright.noise.limit.moments import winners
from headwright.noise.moments import moments
from headwright.noise.record import Moments
from headwright.noise.tail_probability import exceedance
from headwright.noise.worst import worst_case

__all__ = ["Moments", "exceedance", "moments", "weight_distribution", "winners", "worst_case"]
