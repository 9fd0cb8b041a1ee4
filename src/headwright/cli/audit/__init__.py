"""`headwright audit`. Reading order: `command`, `inputs` (texts, images and sounds), `cache` (the
options that plan a cache), `view` (what the terminal shows)."""
