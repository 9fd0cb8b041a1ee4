"""The classic exercise as data: questions, and instances that satisfy their assumptions."""

from __future__ import annotations

from headwright.exercise.bank import Bank, Question, load
from headwright.exercise.instances import Instance, instances

__all__ = ["Bank", "Instance", "Question", "instances", "load"]
