"""What several platforms share, one idea a file."""
