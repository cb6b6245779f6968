"""`python -m fitgym` is the command `fitgym`."""

from fitgym.cli import main

if __name__ == "__main__":
    main()
