"""Jobs on the nodes: the head's conductor starts them, follows them and heals them; `host-run` is
each node's part. Standard library of Python 3.9 only, as everything in node/."""
