"""Few keys, one head, and as many queries as one likes: `moments` takes them all in one pass of
`head`."""
