"""node/dispatch.py, on a machine that is no instance: who is here comes from a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from node.conductor import actions, conduct, conductor, nodes
from node.discovery.choice import LeftOut
from node.discovery.find import Discovery
from node.errors import NodeError
from node.registrations import Registration

BENCH = Path(os.environ["BENCH"])


def discover(_config: Any) -> Discovery:
    document = json.loads((BENCH / "nodes.json").read_text())
    return Discovery(
        tuple(Registration(**host) for host in document["hosts"]),
        tuple(LeftOut(**out) for out in document["left_out"]),
        groups_asked=True,
    )


class Metadata:
    def must(self, path: str) -> str:
        assert path == "instance-id"
        return os.environ.get("BENCH_INSTANCE", "i-00000000000000001")


nodes.discover = discover  # type: ignore[attr-defined]
nodes.EVERY_S = 0.3
nodes.Nodes.__init__.__defaults__ = (0.3,)
conduct.Metadata = Metadata  # type: ignore[attr-defined,assignment,misc]
conductor._PAUSE_S = 0.5

try:
    sys.exit(actions.main(sys.argv[1:]))
except NodeError as error:
    sys.stdout.write(json.dumps({"error": {"kind": error.kind, "message": str(error)}}) + "\n")
    sys.exit(1)
