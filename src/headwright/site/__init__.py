"""The documentation as a site: Markdown of the source tree, a reference made from the code, the lab
and the tour, in one folder that works without a server and without a network.

Reading order: `pages` and `notebook` (which files become pages, and how their links move),
`navigation` (the sections and their order), `markdown` (plain text and docstrings as Markdown),
`commands`, `public_names` and `python_names` (the reference), `writing` (all of that in one
folder), `linking` and `formulas` (what Sphinx does with names and formulas), `settings` (what it is
told), `building` (the whole way).

The site is built by Sphinx with the theme furo, for it loads nothing from elsewhere: its search
index is a script, which a browser also runs in a page opened by a double click. Zensical is faster
(one second instead of two) and was not chosen, because its search, opened like that, loads a
worker from another address.
"""
