"""`python -m headwright` is `headwright`, where the program is not on the path."""

from headwright.cli import main

if __name__ == "__main__":
    main()
