"""Tests as data: expressions, statements, test cases, how they are made and how they are written as Python."""
