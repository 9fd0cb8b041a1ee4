"""The classic exercise as data: questions, instances that satisfy their assumptions, stations.

Reading order: `bank` (what is asked, and how an answer is found), `instances` (numbers on which an
answer is tried), `stations` (what the tour and the lab teach about it).

>>> hw.exercise.load().questions[0].title
'Why the weights are a categorical distribution'
"""

from __future__ import annotations

from headwright.exercise.bank import Bank, Question, load
from headwright.exercise.instances import Instance, instances

__all__ = ["Bank", "Instance", "Question", "instances", "load"]
