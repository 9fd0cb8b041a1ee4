"""A class of invented students: answers x notation x language x layout x fault, each with the
verdict it deserves."""
