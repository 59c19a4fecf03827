"""Which hosts a job can run on now."""
