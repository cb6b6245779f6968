"""Execution: runs test cases in a sandboxed worker process and returns their traces.

The engine and the packages above it use only `executor`. The other modules are its parts and run in the parent process.
"""
