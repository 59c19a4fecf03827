"""One construct a file, each without knowledge of settings or of the other stacks."""
