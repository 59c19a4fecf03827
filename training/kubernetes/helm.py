"""Releases of our charts: rendered, installed, looked at and removed, through helm."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.kubernetes.errors import KubernetesUnreachable, judge_helm
from training.kubernetes.interrupted import change
from training.kubernetes.tools import environment, helm
from training.kubernetes.values_text import values_text

_ANSWER_S = 120


@dataclass(frozen=True)
class Release:
    """What helm knows of a release."""

    name: str
    namespace: str
    status: str
    """`deployed`, `failed`, `uninstalled`, or `pending-install` and the like."""
    description: str
    chart: str
    """`<name>-<version>`."""
    updated: str
    revision: int


def template(
    release: str,
    chart: Path,
    values: Mapping[str, Any],
    *,
    namespace: str,
    kube_version: str | None = None,
) -> str:
    """Return the objects that `install` would send; no cluster is asked.

    Raises:
        UsageError: The values do not fit the chart.
    """
    version = ("--kube-version", kube_version) if kube_version else ()
    words = ["template", release, str(chart), "--namespace", namespace, "--values", "-", *version]
    # No kubeconfig: what the user's own has in it must make no difference.
    argv = [str(helm()), "--kubeconfig", os.devnull, *words]
    return _run(argv, values, doing=f"helm template {chart.name}", release=release, in_=namespace)


@dataclass(frozen=True)
class Helm:
    """The releases of one namespace."""

    kubeconfig: Path
    namespace: str

    def install(
        self,
        release: str,
        chart: Path,
        values: Mapping[str, Any],
        *,
        description: str = "",
        labels: Mapping[str, str] | None = None,
        replace: bool = False,
        create_namespace: bool = False,
    ) -> None:
        """Make a release; of two at once with one name, one is refused.

        Args:
            description: What `release` tells of it.
            labels: Of helm's record, to find it by.
            replace: Take the name of a release that was uninstalled with its history kept.

        Raises:
            ReleaseExists: There is a release of that name.
            UsageError: The values do not fit the chart.
            HelmBusy: Another command works on it.
            KubernetesError: The cluster refused or does not answer.
            Interrupted: Ctrl-C; the message says what is there.
        """
        options = [*_labels(labels), *(["--replace"] if replace else [])]
        options += ["--create-namespace"] if create_namespace else []
        options += ["--description", description] if description else []
        self._change("install", release, str(chart), "--values", "-", *options, values=values)

    def upgrade(
        self,
        release: str,
        chart: Path,
        values: Mapping[str, Any],
        *,
        wait_s: int | None = None,
        description: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Make a release, or change it to what chart and values say.

        Args:
            wait_s: Wait that long for what it makes to be ready; None: do not wait.

        Raises:
            As `install`, without ReleaseExists.
        """
        options = ["--install", "--values", "-", *_labels(labels)]
        options += ["--wait", "--timeout", f"{wait_s}s"] if wait_s is not None else []
        options += ["--description", description] if description else []
        self._change(
            "upgrade", release, str(chart), *options, values=values, limit_s=(wait_s or 0) + 300
        )

    def uninstall(self, release: str, *, keep_history: bool = False, description: str = "") -> None:
        """Remove what a release made; one that is gone is no error.

        Args:
            keep_history: Keep helm's record, with `description` in it.
        """
        options = ["--ignore-not-found", *(["--keep-history"] if keep_history else [])]
        options += ["--description", description] if description else []
        self._change("uninstall", release, *options)

    def rollback(self, release: str) -> None:
        """Go back to the revision before."""
        self._change("rollback", release)

    def take_over(self, release: str) -> bool:
        """Take back what a command began that was killed; return whether there was such a thing.

        A command that still works would lose what it does: nothing tells the two apart.
        """
        found = self.release(release)
        if found is None or not found.status.startswith("pending"):
            return False
        if found.revision == 1:
            self.uninstall(release)
        else:
            self.rollback(release)
        return True

    def release(self, name: str) -> Release | None:
        """Return what is known of a release; None where there is none."""
        found = self.releases(f"^{name}$")
        return found[0] if found else None

    def releases(
        self,
        pattern: str = "",
        *,
        selector: str = "",
        described: bool = True,
        everywhere: bool = False,
    ) -> list[Release]:
        """Return the releases whose name fits, those that were uninstalled or failed too.

        Args:
            pattern: A regular expression; empty: all.
            selector: Of the labels that they were made with.
            described: Ask for the description of each; else it is empty.
            everywhere: Those of all namespaces, which not everybody may see; never described.
        """
        options = ["--filter", pattern] if pattern else []
        options += ["--selector", selector] if selector else []
        options += ["--all-namespaces"] if everywhere else []
        states = ("--deployed", "--failed", "--pending", "--superseded", "--uninstalled",
                  "--uninstalling")  # fmt: skip
        said = self._read("list", *states, "--max", "0", *options, "-o", "json", release=pattern)
        return [self._of(each, described and not everywhere) for each in json.loads(said or "[]")]

    def values(self, release: str) -> dict[str, Any]:
        """Return the values that a release was made with."""
        said = self._read("get", "values", release, "-o", "json", release=release)
        found: dict[str, Any] = json.loads(said) or {}
        return found

    def manifest(self, release: str) -> str:
        """Return the objects of a release, as they were sent."""
        return self._read("get", "manifest", release, release=release)

    def _of(self, found: Mapping[str, Any], described: bool) -> Release:
        name, description = found["name"], ""
        if described:
            status = json.loads(self._read("status", name, "-o", "json", release=name))
            description = status["info"].get("description", "")
        return Release(
            name=name,
            namespace=found["namespace"],
            status=found["status"],
            description=description,
            chart=found["chart"],
            updated=found["updated"],
            revision=int(found["revision"]),
        )

    def _argv(self, *words: str) -> list[str]:
        options = ("--kubeconfig", str(self.kubeconfig), "--namespace", self.namespace)
        return [str(helm()), *options, *words]

    def _read(self, verb: str, *words: str, release: str) -> str:
        return _run(
            self._argv(verb, *words), None, doing=f"helm {verb}", release=release,
            in_=self.namespace,
        )  # fmt: skip

    def _change(
        self,
        verb: str,
        release: str,
        *words: str,
        values: Mapping[str, Any] | None = None,
        limit_s: int = 300,
    ) -> None:
        change(self, self._argv(verb, release, *words), release, values, limit_s)


def _labels(labels: Mapping[str, str] | None) -> list[str]:
    return [f"--labels={key}={value}" for key, value in (labels or {}).items()]


def _run(
    argv: Sequence[str],
    values: Mapping[str, Any] | None,
    *,
    doing: str,
    release: str,
    in_: str,
    limit_s: int = _ANSWER_S,
) -> str:
    """Run helm and return what it printed.

    Raises:
        UsageError: The values do not fit the chart.
        KubernetesError: The cluster refused or does not answer.
    """
    try:
        done = subprocess.run(
            argv,
            input=values_text(values),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment(os.environ),
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        late = KubernetesUnreachable(f"{doing}: no answer in {limit_s} s; try again")
        late.may_have_arrived = True
        raise late from error
    if done.returncode:
        raise judge_helm(done.stderr, doing=doing, release=release, namespace=in_)
    return done.stdout
