"""How results look, and nothing about how they are computed.

Reading order: `style` (colours and figures), `page` (the shell of every HTML page), `formula`
(LaTeX for pages and for terminals), `notation` (what a terminal shows, set for a page), `charts`
and `notebook` (what results of every kind are drawn and shown with). Nothing here knows a subject:
every folder draws its own figures with these.
"""
