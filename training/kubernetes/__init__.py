"""The EKS cluster from the inside: what is installed in it, and how to reach it."""
