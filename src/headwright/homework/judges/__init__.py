"""One file per kind of question: how its answers are tested."""
