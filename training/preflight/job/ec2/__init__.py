"""Checks of a job planned for the EC2 cluster, that ask AWS: they only read."""
