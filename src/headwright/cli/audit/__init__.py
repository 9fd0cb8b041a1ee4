"""`headwright audit`. Reading order: `command`, `inputs` (texts, images and sounds), `cache` (the
options that plan a cache), `jobs` (where they run), `view` (what the terminal
shows), `several` (of several models)."""
