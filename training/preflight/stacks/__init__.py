"""Checks of the stacks' settings against the account and region that they are to be deployed to.

Each module is one subject, with a small class or a few. `registry` says which of them apply to
given settings. None of them changes anything.
"""
