"""What this node says of itself to the cluster."""
