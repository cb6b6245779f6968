"""Sandbox: limits the effects of code under test on the machine by kernel features, resource limits and an audit hook.

Everything that runs code under test or starts a process uses it.
"""
