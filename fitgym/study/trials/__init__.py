"""The kinds of runs that a study can be made of, one file each."""
