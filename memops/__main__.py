"""`python -m memops` is the command line."""

from memops.cli import main

if __name__ == "__main__":
    main()
