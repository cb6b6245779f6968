"""Rendering: an episode as a value, drawn as a picture or on the terminal, and pages in HTML.

Environments call `display`; studies and the report of a project call `page`.
"""
