"""Measurements of how fast the command lines are, each against a bare peer on the same machine."""
