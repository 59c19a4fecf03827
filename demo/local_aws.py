"""The demo's own local AWS, and an environment in which nothing can reach a real one."""

from __future__ import annotations

import ipaddress
import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from demo.place import PROJECT, Place
from toolchain.files import Stamp, fingerprint
from toolchain.processes import Progress, Text, run
from training.errors import UsageError

FOREIGN = ("AWS_", "CDK_", "MASK_RCNN_", "MOTO_")
"""Variables of the user that could send a request, or a credential, to a real account."""


@dataclass
class LocalAws:
    """A local AWS that is started anew for each run and keeps its state between them."""

    place: Place
    port: int
    """0 takes a free one."""
    environ: dict[str, str] = field(default_factory=dict)
    """For commands that use it; empty until it runs."""

    def start(self, progress: Progress) -> None:
        """Start it; one that an earlier, killed run left behind is stopped first.

        Only a process that was started from here is sure to end with us. State that another version
        kept is thrown away: it cannot be read back.
        """
        self.stop(progress)
        version = Stamp(self.place.aws_version, fingerprint(*_sources()))
        keep = "--keep" if version.is_fresh() else "--discard"
        self._localaws("start", "--port", str(self.port), keep, progress=progress)
        version.write()
        _collect_when_it_ends(self._ask("status")["pid"])
        values = self._ask("env")
        check_is_loopback(values.get("AWS_ENDPOINT_URL", ""))
        self.environ = seal(os.environ, values)

    def stop(self, progress: Progress) -> None:
        """Stop it, if it runs, and keep its state."""
        self._localaws("stop", "--keep", progress=progress)

    def stacks(self) -> set[str]:
        """Return the names of the stacks that are there and whole."""
        stacks = self._ask("status")["stacks"]
        whole = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
        return {stack["name"] for stack in stacks if stack["status"] in whole}

    def _ask(self, command: str) -> dict[str, Any]:
        answer = self.place.result(f"localaws-{command}")
        self._localaws(command, "--format", "json", progress=_say_nothing, stdout=answer)
        document: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return document

    def _localaws(self, command: str, *arguments: str, progress: Progress, **files: Any) -> None:
        run(
            [sys.executable, "-m", "localaws", command, "--state-dir", self.place.aws, *arguments],
            cwd=PROJECT,
            log=self.place.log("local-aws"),
            progress=progress,
            advice=f"Local AWS did not {command}.",
            **files,
        )


def _sources() -> list[Path]:
    """Return every file that the form of the kept state depends on."""
    return [PROJECT / "constraints.txt", *sorted((PROJECT / "localaws").rglob("*.py"))]


def _say_nothing(text: Text) -> None:
    """Progress of what takes no time."""


def _collect_when_it_ends(pid: int) -> None:
    """Collect the exit status of the server, our orphan: uncollected, it would seem to live on."""

    def wait() -> None:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)

    threading.Thread(target=wait, daemon=True).start()


def seal(environ: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the local AWS's variables and none of the user's own for AWS."""
    kept = {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}
    local = "127.0.0.1,localhost"
    no_proxy = ",".join(filter(None, (local, environ.get("NO_PROXY") or environ.get("no_proxy"))))
    return {
        **kept,
        **values,
        # Profiles in the user's home would otherwise fill in what the variables leave open.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }


def check_is_loopback(endpoint: str) -> None:
    """Refuse an endpoint that is not on this machine.

    Raises:
        UsageError: It is elsewhere, or is none.
    """
    host = urlsplit(endpoint).hostname or ""
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise UsageError(
            f"AWS_ENDPOINT_URL is {endpoint!r}, not an address of this machine such as "
            "http://127.0.0.1:5566: the demo never talks to a real account"
        )
