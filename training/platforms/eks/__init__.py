"""Runs a job on the nodes of KubernetesStack, as an MPIJob of one of our charts."""
