"""`python -m node.health.leave`: this node is replaced, so that the job's part here ends first."""

from __future__ import annotations

import sys

from ..spot.__main__ import leave

if __name__ == "__main__":
    leave("it is replaced")
    sys.stdout.write("leaving\n")
