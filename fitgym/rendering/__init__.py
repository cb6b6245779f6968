"""Rendering: an episode as a value, and how it looks as a picture and on the terminal."""
