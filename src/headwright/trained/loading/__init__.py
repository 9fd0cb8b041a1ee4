"""Models from files of strangers.

Reading order: `gguf_header`, `stored`, `load`.
"""
