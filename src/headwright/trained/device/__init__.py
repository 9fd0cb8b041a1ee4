"""Where the model runs: work beside its own queue (`beside`), and numbers that must turn out to be
finite (`finite`)."""
