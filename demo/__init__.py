"""The whole of it on local AWS, from empty stacks to trained models: `python -m demo`."""
