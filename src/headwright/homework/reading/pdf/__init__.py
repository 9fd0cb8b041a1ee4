"""The text layer of PDFs that LaTeX made, as text with formulas in dollars.

    bytes -> `page/`: pages, fonts, letters and rules with their places (`boxes`)
          -> `layout/`: fractions and roots, lines and scripts, formulas, paragraphs
          -> `text`

The result is the text that the student's spans point into; the Markdown reader takes it from there.
"""
