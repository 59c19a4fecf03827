"""The objects of the cluster, through kubectl: read, made, removed, and their logs.

kubectl brings the cluster's sign-in, its proxies and its version rules along, and helm needs the
same kubeconfig; a plan, which uses neither, stays quick.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from training.kubernetes.errors import KubernetesRefused, KubernetesUnreachable, judge
from training.kubernetes.tools import environment, kubectl

Object = dict[str, Any]
"""One object of the cluster as its API has it."""

FIELD_MANAGER = "mask-rcnn"
"""Who owns the fields of what we apply, for conflicts with others."""

_REQUEST_S = 30
_COMMAND_S = 120


@dataclass(frozen=True)
class Kubernetes:
    """A cluster."""

    kubeconfig: Path
    namespace: str
    """Of every object where no other is named."""

    def get(self, kind: str, name: str, *, namespace: str | None = None) -> Object | None:
        """Return an object; None where there is none.

        Args:
            kind: Plural, with its group where it is not of Kubernetes itself:
                `mpijobs.kubeflow.org`.

        Raises:
            KubernetesError: The cluster refused, has no such kind, or does not answer.
        """
        said = self._ask(
            "get", kind, name, *self._in(namespace), "--ignore-not-found", "-o", "json"
        )
        found: Object | None = json.loads(said) if said.strip() else None
        return found

    def list(
        self,
        kind: str,
        *,
        selector: str = "",
        namespace: str | None = None,
        everywhere: bool = False,
    ) -> list[Object]:
        """Return the objects of a kind, `everywhere` for those of all namespaces.

        Raises:
            KubernetesError: As `get`.
        """
        place = ("--all-namespaces",) if everywhere else self._in(namespace)
        chosen = ("--selector", selector) if selector else ()
        said = self._ask("get", kind, *place, *chosen, "-o", "json")
        found: list[Object] = json.loads(said)["items"]
        return found

    def version(self) -> str:
        """Return the API server's version, as `1.35`."""
        found = json.loads(self._ask("version", "-o", "json"))["serverVersion"]
        # EKS has a plus behind the minor version.
        return f"{found['major']}.{found['minor'].rstrip('+')}"

    def apply(self, manifest: str, *, dry_run: bool = False) -> Sequence[str]:
        """Make objects as a manifest has them; return what was done to each.

        On the server's side: a definition of the size of MPIJob's does not fit in the annotation
        that kubectl keeps otherwise.
        """
        words = ["apply", "--server-side", "--field-manager", FIELD_MANAGER, "--force-conflicts"]
        words += ["--dry-run=server"] if dry_run else []
        return self._ask(*words, "-f", "-", given=manifest).splitlines()

    def patch(
        self, kind: str, name: str, change: Mapping[str, Any], *, namespace: str | None = None
    ) -> None:
        """Merge a change into an object.

        Raises:
            KubernetesError: As `get`; with the reason NotFound where there is none.
        """
        text = json.dumps(change)
        self._ask("patch", kind, name, *self._in(namespace), "--type", "merge", "--patch", text)

    def delete(
        self,
        kind: str,
        *names: str,
        namespace: str | None = None,
        grace_s: int | None = None,
        owned_first: bool = False,
    ) -> None:
        """Ask for the end of objects, and do not wait for it; one that is gone is no error.

        Args:
            owned_first: Each stays until what it owns is gone, so that its absence tells of both.
        """
        grace = () if grace_s is None else ("--grace-period", str(grace_s))
        cascade = ("--cascade=foreground",) if owned_first else ()
        options = (*grace, *cascade, "--ignore-not-found", "--wait=false")
        self._ask("delete", kind, *names, *self._in(namespace), *options)

    def log(
        self,
        pod: str,
        container: str,
        *,
        follow: bool = False,
        since_time: str | None = None,
        tail: int | None = None,
        timestamps: bool = True,
    ) -> LogReader:
        """Return a reader of a container's log; followed, it gives lines as they come.

        Args:
            since_time: RFC 3339; only lines from then on.
            tail: Of the lines that are there, only so many, the last ones.
            timestamps: Put the time before each line, to go on from.
        """
        words = ["logs", pod, "-c", container, *self._in(None)]
        words += ["--follow"] if follow else []
        words += ["--timestamps"] if timestamps else []
        words += ["--since-time", since_time] if since_time else []
        words += [f"--tail={tail}"] if tail is not None else []
        # The time limit of a request would end a log that is followed.
        return LogReader([*self.argv("--request-timeout=0"), *words], f"kubectl logs {pod}")

    def argv(self, *options: str) -> Sequence[str]:
        """Return kubectl's command line up to its verb, to be followed by the verb."""
        return [str(kubectl()), "--kubeconfig", str(self.kubeconfig), *options]

    def _in(self, namespace: str | None) -> tuple[str, str]:
        return "--namespace", namespace or self.namespace

    def _ask(self, verb: str, *words: str, given: str | None = None) -> str:
        argv = [*self.argv(f"--request-timeout={_REQUEST_S}s"), verb, *words]
        doing = f"kubectl {verb} {words[0]}" if not words[0].startswith("-") else f"kubectl {verb}"
        try:
            done = subprocess.run(
                argv,
                input=given or "",
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=environment(os.environ),
                timeout=_COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            late = KubernetesUnreachable(f"{doing}: no answer in {_COMMAND_S} s; try again")
            late.may_have_arrived = True
            raise late from error
        if done.returncode:
            raise judge(done.stderr, doing=doing)
        return done.stdout


class LogReader:
    """The lines of a log, once; as a context, kubectl ends with it."""

    def __init__(self, argv: Sequence[str], doing: str) -> None:
        self._doing = doing
        self._is_ended = False
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=environment(os.environ),
            start_new_session=True,
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the lines.

        Raises:
            KubernetesUnreachable: The connection broke while the log was followed.
            KubernetesError: The cluster refused, or there is no such pod or container.
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        for line in self._process.stdout:
            yield line.rstrip("\n")
        said = self._process.stderr.read()
        if self._process.wait() and not self._is_ended:
            error = judge(said, doing=self._doing)
            # What was read so far is true; whoever follows asks again from there.
            raise KubernetesUnreachable(str(error)) if _broke_off(error) else error

    def end(self) -> None:
        """Let the lines come to an end; another thread may ask for it."""
        self._is_ended = True
        self._process.terminate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._process.communicate()


def _broke_off(error: Exception) -> bool:
    return isinstance(error, KubernetesRefused) and error.reason == "Unknown"
