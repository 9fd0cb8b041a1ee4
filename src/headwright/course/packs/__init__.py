"""What a learning platform runs: an autograder in a folder, and the results it reads."""
