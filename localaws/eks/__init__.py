"""EKS: clusters and node groups, which moto keeps, and what stacks need beside them.

There is no Kubernetes in it, and no node: what runs in a cluster is tested elsewhere.
"""
