"""A model made by code, whose heads are known before any audit: `headwright audit --demo`.

Reading order: `rhyme` (the text and its words), `weights` (what each head is built to do), `model`
(the folder that an audit reads). Importing this needs nothing.
"""

from __future__ import annotations

from pathlib import Path

# Taken where a model is asked for, as a folder or a package would be
NAME = "headwright-demo"
TEXT = Path(__file__).with_name("rhyme.txt")
