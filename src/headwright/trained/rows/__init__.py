"""One streaming pass over the rows of attention; no map is ever kept.

Reading order: `tokens` (what is known before a head is looked at), `stream` (the pass, block by
block), `layout` (the layer's arrays, cut into blocks of logits). A block of logits becomes numbers
in `operations`, with the help of `largest`, or in `compiled`, whose inner loops are `loops`;
`kernels` chooses between the two, and sends half precision on a GPU to `fused` instead, which has
no blocks of logits. `likeness` looks at a few whole rows; `result` is what all ways give, and
`sinks` puts in learned sinks afterwards.
"""
