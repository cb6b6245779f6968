"""Agents: who decides which fitness functions are active. One file each."""
