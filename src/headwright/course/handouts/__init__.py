"""A class's sheets: `write` (the whole way), `made` (all files in memory), `text` (one sheet in
Markdown and LaTeX), `names` (safe file names), `marker` (which sheet a document was written on),
`pdf`, `folder` (all or nothing), `handed_in` (documents that come back).
"""
