"""The command `fitgym`, also run as `python -m fitgym`."""

from __future__ import annotations

import sys

from fitgym.commands.interruption import held

__all__ = ["main"]


def main() -> None:
    """Run the command line of `fitgym.cli`; Ctrl-C while it is being imported shows no traceback either."""
    if sys.flags.optimize > 1:
        sys.stderr.write(
            "fitgym: Python runs with -OO or PYTHONOPTIMIZE=2, which removes the docstrings that the options come from; "
            "unset it\n"
        )
        sys.exit(2)
    try:
        with held():
            from fitgym.cli import main as run
        run()
    except KeyboardInterrupt:
        sys.stderr.write("fitgym: interrupted, nothing was written\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
