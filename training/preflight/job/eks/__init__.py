"""Checks of a job that is planned for the EKS cluster: they ask AWS, and the cluster itself."""
