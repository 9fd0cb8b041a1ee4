"""Models from files of strangers: nothing is run, and nothing is believed before it is checked.

Reading order: `load` (where a model lies, and how it is read), `stored` (what its configuration
claims against what its files hold), `gguf_header` (the same for the head of a GGUF file),
`processors` (what makes arguments of images and sounds).
"""
