"""What a model says through a quantised cache, on texts that the plan has not seen.

Reading order: `planned_cache` (a cache that `generate` takes), `overlap` (which texts may be used),
`decoding` (token by token, beside the model as it is), `unseen` (a prediction from calibration
texts that were left out), `outcome` (what comes of it).
"""
