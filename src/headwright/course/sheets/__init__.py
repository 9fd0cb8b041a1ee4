"""A class's sheets: `text` (one sheet in Markdown and LaTeX), `names` (safe file names), `marker`
(which sheet a document was written on), `made` (all files of a course), `pdf`, `folder`."""
