"""The report about the tests of a project.

`fitgym report` calls `report` for the data and `page` for the HTML; the other files are their parts.
"""
