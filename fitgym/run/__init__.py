"""One run: its setting, its episode and its record. Commands, studies and training are thin users of this package."""
