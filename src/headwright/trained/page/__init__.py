"""The audit as a page that needs no other file.

Reading order: `drawings`, `report`.
"""
