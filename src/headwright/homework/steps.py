"""Intermediate formulas."""


def formula_in_length(chain):
    return None
