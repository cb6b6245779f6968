"""Search algorithms: what to try next. One file each."""
