"""`headwright xray`: `command` asks, `view` shows."""
