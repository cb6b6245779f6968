"""Sandbox: limits what code under test can do to the machine, by kernel features, limits and an audit hook.

Everything that runs code under test, or starts a process, calls it.
"""
