"""The engine of a search: its state, queries on the state, and the commands that change it.

The names below are public. Files inside fitgym's engine import from the file that defines a name.
"""

from fitgym.engine.choices import FITNESS, SEARCH, SECONDARY, Variants, check_variants, parse_search
from fitgym.engine.cost import Cost
from fitgym.engine.discovery import Discovery
from fitgym.engine.engine import Engine
from fitgym.engine.existing import Existing
from fitgym.engine.queries import Queries

__all__ = [
    "FITNESS",
    "SEARCH",
    "SECONDARY",
    "Cost",
    "Discovery",
    "Engine",
    "Existing",
    "Queries",
    "Variants",
    "check_variants",
    "parse_search",
]
