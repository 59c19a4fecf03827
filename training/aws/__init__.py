"""AWS at the edge: thin clients, passed in, whose errors are translated once."""
