"""`python -m bench`: the benches that need no idle cores for long, one after the other."""

from __future__ import annotations

import subprocess
import sys

BENCHES = ("launch", "synth", "reading", "staging")


def main() -> int:
    """Run them all; return the worst exit code."""
    return max(
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode
        for name in BENCHES
    )


if __name__ == "__main__":
    sys.exit(main())
