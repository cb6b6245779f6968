"""Where the runs of a study are made, one file each."""
