"""`python -m training.jobs`: look after jobs, one module a command."""
