"""Checks before anything is started or spent."""
