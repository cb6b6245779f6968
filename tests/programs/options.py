"""Functions that take an object for its attributes, as programs pass their options."""


def command(options):
    parts = ["run"]
    if options.verbose:
        parts.append("-v")
    if options.level > 7:
        parts.append("--high")
    for name in options.names:
        if name.startswith("x"):
            parts.append(name)
    return parts


def summary(row):
    if row["state"] == "open" and row["count"] > 3:
        return "busy"
    return row["state"]
