"""Studies: many runs that answer one question, from a laptop to a cluster."""
