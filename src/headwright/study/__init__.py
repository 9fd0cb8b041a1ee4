"""Parameter studies: a grid and a function go in, a table with figures and a page comes out."""
