"""Models with inputs of their own: images, sounds, and texts with a target for the decoder.

Reading order: `given` (what a model can be given, and what it says it reads), `examples` (from that
to batches).
"""
