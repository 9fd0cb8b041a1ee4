"""The text layer of PDFs that LaTeX made, as text with formulas in dollars.

    bytes -> pages (`opened`) -> letters and rules with their places (`marks`, `fonts`)
          -> fractions, roots, limits, matrices (`stacks`)
          -> lines with their scripts (`lines`, `scripts`)
          -> text and formulas (`formulas`) -> paragraphs (`paragraphs`)

The result is the text that the student's spans point into; the Markdown reader takes it from there.
"""
