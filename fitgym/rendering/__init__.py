"""Rendering: an episode as a value, as a picture or on the terminal, and HTML pages.

Environments call `display`; studies and the report of a project call `page`.
"""
