"""`python -m demo`, inside the virtual environment; `make demo` sets that up first."""

from __future__ import annotations

import sys

try:
    from demo.command import app
    from training.cli import run

    run(app)
except KeyboardInterrupt:  # before the command has taken over the signals
    sys.exit(130)
