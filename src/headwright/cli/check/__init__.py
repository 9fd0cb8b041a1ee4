"""`headwright check`. Reading order: `command`, `documents` (what is given), `view` (what the
terminal shows)."""
