"""How a cluster's nodes are: what each says of itself, and an all-reduce over all of them.

Runs on the nodes: Python 3.9 and the standard library alone (torch where the all-reduce runs).
"""
