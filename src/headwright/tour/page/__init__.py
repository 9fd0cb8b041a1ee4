"""The tour as `report.html`. Reading order: `tables` (the numbers of a station), `document` (the
page and its files)."""
