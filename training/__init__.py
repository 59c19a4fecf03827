"""Runs distributed Mask R-CNN training in the place that the stacks built."""
