"""The commands about heads given as arrays; `law` is how noise is spelled there."""
