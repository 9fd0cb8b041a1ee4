"""Tests of one route have to keep the engine from taking the other one."""

from headwright.noise.many import groups
from headwright.noise.many import moments as many


def on_a_grid(monkeypatch, pays=lambda cells: True):
    """Many keys are carried by a grid, unless it does not pay: always by default."""
    monkeypatch.setattr(many, "surely_by_itself", lambda m, s: False)
    monkeypatch.setattr(many, "grid_pays", pays)


def in_groups(monkeypatch):
    """Keys are put into groups by their weight, however few they are."""
    monkeypatch.setattr(groups, "_SMALLEST", 0)
    monkeypatch.setattr(groups, "_SMALL", 0.0)
