"""Commands around a class: `new` (a sheet per student), `pack` (an autograder), `demo` (a sample
class)."""
