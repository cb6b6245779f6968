"""Test cases as Python text: source, layout, imports, file names and edits of existing test files.

Finishing and the commands for projects call it; every command writes its files with `export.write`.
"""
