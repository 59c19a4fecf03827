"""Training images: what goes into each, its tag, and its build."""
