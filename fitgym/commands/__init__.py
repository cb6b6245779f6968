"""Commands of the command line that work on whole projects, one file each. Only `fitgym.cli` imports them."""
