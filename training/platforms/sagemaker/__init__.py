"""Runs a job as a SageMaker training job."""
