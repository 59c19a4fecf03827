"""Prints the hosts that a job can run on now, one `address:slots` a line.

A host without a slot (a head without GPUs) is no host for Horovod; `--json` has it, and those that
cannot be used, each with its reason.
"""

from __future__ import annotations

import argparse
import json
import sys

from .. import config
from ..errors import NodeError
from .find import discover


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="hosts", description=__doc__)
    parser.add_argument("--json", action="store_true", help="all that is known, as one object")
    given = parser.parse_args(arguments)
    try:
        found = discover(config.load())
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    if given.json:
        sys.stdout.write(json.dumps(found.to_json()) + "\n")
    else:
        lines = (f"{host.address}:{host.slots}\n" for host in found.hosts if host.slots)
        sys.stdout.write("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
