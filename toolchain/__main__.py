"""`python3 -m toolchain setup [--for cdk|demo|test]`: make this machine ready."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  the modules below do not even parse there
    sys.stderr.write(
        "error: Python %d.%d runs this, but Python 3.11 is wanted. Install it and name it: "  # noqa: UP031
        "make PYTHON=python3.11 ...\n" % sys.version_info[:2]
    )
    sys.exit(2)

try:
    from toolchain.command import main

    sys.exit(main(sys.argv[1:]))
except KeyboardInterrupt:  # before the command has taken over the signals
    sys.exit(130)
