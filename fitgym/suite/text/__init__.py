"""Test cases as Python text: source, layout, imports, file names and edits of existing test files.

Finishing and the commands for projects use this package; every command writes its files with `export.write`.
"""
