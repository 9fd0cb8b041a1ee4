"""Commands around a class: `new` (a sheet per student)."""
