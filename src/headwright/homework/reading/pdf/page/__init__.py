"""What a page draws: letters and straight lines with their places.

Reading order: `library` (pypdf), `opened`, `fonts`, `unicode_maps`, `state`, `marks`.
"""
