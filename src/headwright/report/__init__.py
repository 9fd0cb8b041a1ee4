"""Figures and self-contained pages: how results look, and nothing about how they are computed."""
