"""Runs a job on the nodes of ClusterStack."""
