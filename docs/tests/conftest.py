"""The extensions of Sphinx can be imported as Sphinx does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "extensions"))
