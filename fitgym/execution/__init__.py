"""Execution: runs test cases in a sandboxed worker process and returns their traces.

The engine and everything above it use `executor`; the other files are its parts and run in the parent process.
"""
