"""The commands of `python -m training.data`, one module each.

Each is a thin layer over a module that works without it. What a command needs is imported inside
it, so that `--help` and the other commands do not wait for it.
"""
