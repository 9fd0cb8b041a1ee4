"""The classic exercise as data.

`bank` reads the questions (`bank.toml`, or a teacher's own file of that form); `instances` draws
the keys, values and subspaces on which their answers are computed.
"""

from __future__ import annotations

from headwright.exercise.bank import Bank, Question, load
from headwright.exercise.instances import Instance, instances

__all__ = ["Bank", "Instance", "Question", "instances", "load"]
