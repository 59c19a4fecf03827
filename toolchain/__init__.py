"""Makes a fresh machine ready: `python3 -m toolchain setup`.

It runs before there is a virtual environment, so it imports the standard library alone.
"""
