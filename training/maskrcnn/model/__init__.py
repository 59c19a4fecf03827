"""The network: backbone and pyramid, proposals, box and mask heads, and their losses."""
