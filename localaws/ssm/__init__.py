"""Systems Manager's Run Command: commands that really run, where instances are hosts."""
