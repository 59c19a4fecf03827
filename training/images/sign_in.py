"""Signs an engine in to a registry, for as long as it is needed and in a file of its own.

The token reaches the engine through its standard input, and lies in a folder that only this user
can open and that goes at the end: never in arguments, which everybody can read, or in the user's
own settings, which would keep it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.aws.ecr import Token
from training.container_engine import Engine, environment
from training.images.complaints import judge
from training.images.destination import Destination

_LAST_LINES = 20
_SIGN_IN_S = 120


@dataclass(frozen=True)
class Access:
    """An engine that keeps its sign-ins in a file of ours."""

    engine: Engine
    authfile: tuple[str, ...]
    """The option after a command, for engines that take it there."""

    def sign_in(self, registry: Destination, token: Token) -> None:
        """Let the engine in to a registry.

        Raises:
            Lost: The registry could not be reached.
            AwsError: It does not take the token.
        """
        words = ("login", *self.authfile, "--username", token.user, "--password-stdin")
        try:
            done = subprocess.run(
                self.engine.argv(*words, registry.host),
                input=token.password,
                capture_output=True,
                text=True,
                errors="replace",
                env=environment(),
                timeout=_SIGN_IN_S,
                check=False,
            )
            said, failed = done.stderr or done.stdout, done.returncode != 0
        except subprocess.TimeoutExpired:
            said, failed = "signing in timed out", True
        if failed:
            lines = said.replace(token.password, "***").splitlines()
            raise judge(self.engine, registry, lines)


@contextmanager
def own_sign_ins(engine: Engine, hosts: Iterable[str]) -> Iterator[Access]:
    """Yield access for an engine that is signed in to nothing yet; forget all of it at the end.

    Args:
        engine: Which.
        hosts: Of the registries that it will be let in to.
    """
    with tempfile.TemporaryDirectory(prefix="mask-rcnn-sign-in-") as name:
        folder = Path(name)
        if engine.name == "docker":
            yield Access(_with_own_settings(engine, hosts, folder), ())
        else:
            yield Access(engine, ("--authfile", str(folder / "auth.json")))


def _with_own_settings(engine: Engine, hosts: Iterable[str], folder: Path) -> Engine:
    """Return docker with settings of its own, which talks to the same daemon as the user's."""
    # With no entry at all, docker would hand the token to the desktop's key ring:
    # https://docs.docker.com/reference/cli/docker/login/#credential-stores
    settings: dict[str, Any] = {"auths": {host: {} for host in hosts}}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    plugins = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker", "cli-plugins")
    if plugins.is_dir():  # builds are done by one
        (folder / "cli-plugins").symlink_to(plugins.resolve())
    # Which daemon is the user's is in the settings that are left out.
    daemon = engine.ask("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    host = daemon.stdout.strip() if daemon.returncode == 0 else ""
    options = (*engine.options, "--config", str(folder), *(("--host", host) if host else ()))
    return replace(engine, options=options)


@dataclass(frozen=True)
class SignedIn:
    """An engine that one registry knows."""

    access: Access
    destination: Destination
    token: Token

    def run(self, tell: Callable[[str], None], command: str, *words: str) -> list[str]:
        """Run a command, telling what it says line by line; return its last lines.

        Raises:
            Lost: Trying again may help.
            TrainingError: Another, as `judge` has it.
        """
        last: deque[str] = deque(maxlen=_LAST_LINES)
        with subprocess.Popen(
            self.access.engine.argv(command, *self.access.authfile, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment(),
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    last.append(line.rstrip().replace(self.token.password, "***"))
                    tell(last[-1])
            except BaseException:  # Ctrl-C: the engine goes too
                process.terminate()
                raise
        if process.returncode:
            raise judge(self.access.engine, self.destination, last)
        return list(last)


@contextmanager
def signed_in(engine: Engine, destination: Destination, token: Token) -> Iterator[SignedIn]:
    """Sign in to one registry, and forget it at the end.

    Raises:
        Lost: The registry could not be reached.
        AwsError: It does not take the token.
    """
    with own_sign_ins(engine, [destination.host]) as access:
        access.sign_in(destination, token)
        yield SignedIn(access, destination, token)
