"""Fitness functions: how far a trace is from each target. One file each."""
