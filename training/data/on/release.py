"""One release of charts/stage-data: started once, followed to its end, and taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.cli import log as console
from training.data.on.answer import as_it_left, stopped
from training.data.on.trip import Show
from training.errors import AwsError, Interrupted, JobFailed, UsageError
from training.kubernetes.client import Kubernetes, Object
from training.kubernetes.errors import (
    KubernetesError,
    KubernetesRefused,
    KubernetesUnreachable,
    ReleaseExists,
)
from training.kubernetes.helm import Helm
from training.platforms.common.patience import Timer
from training.platforms.eks.connection import may_pass
from training.platforms.watching import watching

CONTAINER = "data"
"""Of the chart's only pod."""

LOOK_S = 3.0
AWAY_S = 600.0
"""How long the API server may be away while a run is followed."""
LATE_S = 60.0
"""How long the last lines of a run that has ended are asked for: its node may be gone."""


@dataclass
class Run:
    """A run on the cluster.

    Attributes:
        kubeconfig: How the cluster is reached.
        namespace: Of the release.
        name: Of the release and of its Job.
    """

    kubeconfig: Path
    namespace: str
    name: str
    tell: Callable[[str], None] = console.print
    timer: Timer = field(default_factory=Timer)
    _told: str = ""
    _last_time: str | None = None
    """Of the last line that was shown."""
    _lines_then: set[str] = field(default_factory=set)
    """The lines of that second, which a log that is asked for again has once more."""
    _away_since: float | None = None

    def __post_init__(self) -> None:
        self._cluster = Kubernetes(self.kubeconfig, self.namespace)
        self._helm = Helm(self.kubeconfig, self.namespace)

    def start(self, chart: Path, values: Mapping[str, Any]) -> None:
        """Install the release, or find the one that the same request made before.

        Raises:
            UsageError: The name is another's.
            KubernetesError: The cluster refused, or did not answer; the message says how to look.
        """
        try:
            self._helm.install(self.name, chart, values)
        except ReleaseExists as error:
            if self._helm.values(self.name) != values:
                raise UsageError(
                    f"--name {self.name}: there is another release of that name in namespace "
                    f"{self.namespace}; choose another"
                ) from error
            self.tell(f"{self.name} is there already, from the same request: no other was started")
        except KubernetesUnreachable as error:
            raise AwsError(
                f"{error}. Whether {self.name} was started is not known: the same command with "
                f"--name {self.name} goes on with it, and makes no second one"
            ) from error

    def follow(self, show: Show) -> None:
        """Show the run's lines until it has ended; then take the release away.

        Raises:
            TrainingError: It did not end well; Interrupted where the user stopped watching.
        """
        again = f"the same command with --name {self.name}"
        end = f"helm uninstall {self.name} --namespace {self.namespace}"
        with watching(self.name, follow=again, stop=end):
            job, pod = self._until_the_end(show)
            self._take_away()
        self._conclude(job, pod)

    def _until_the_end(self, show: Show) -> tuple[Object, Object | None]:
        """Return the Job that has ended, and its last pod where that is still there."""
        while True:
            ended: tuple[Object, Object | None] | None = None
            try:
                job = self._cluster.get("jobs.batch", self.name)
                if job is None:
                    # Of the release there may be a rest, which would have the name.
                    self._take_away()
                    raise Interrupted(
                        f"{self.name} is gone: the same command elsewhere saw its end, or somebody "
                        "has taken it away. What it has copied stays: the same command goes on "
                        "from there"
                    )
                pod = self._pod()
                ended = (job, pod) if _ending(job) else None
                if pod is not None:
                    self._tell_waiting(pod)
                    if _has_begun(pod):
                        self._show(pod, show, follow=ended is None)
                if ended is not None:
                    return ended
                self._away_since = None
            except KubernetesError as error:
                if not _may_pass(error):
                    raise
                if self._is_away_too_long(error, has_ended=ended is not None):
                    if ended is None:
                        raise
                    return ended
            self.timer.sleep(LOOK_S)

    def _take_away(self) -> None:
        try:
            self._helm.uninstall(self.name)
        except AwsError as error:
            # How the copy ended matters more.
            self.tell(
                f"{error}. The release {self.name} stays; take it away: helm uninstall {self.name} "
                f"--namespace {self.namespace}"
            )

    def _show(self, pod: Object, show: Show, *, follow: bool) -> None:
        name = pod["metadata"]["name"]
        with self._cluster.log(name, CONTAINER, follow=follow, since_time=self._last_time) as lines:
            for line in lines:
                moment, _, text = line.partition(" ")
                if line in self._lines_then:
                    continue
                if moment[:19] != (self._last_time or "")[:19]:
                    self._lines_then.clear()
                self._lines_then.add(line)
                self._last_time = moment
                show(text)

    def _pod(self) -> Object | None:
        """Return the pod of the newest try."""
        pods = self._cluster.list("pods", selector=f"job-name={self.name}")
        return max(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)

    def _tell_waiting(self, pod: Object) -> None:
        said = _why_waiting(pod)
        if said and said != self._told:
            self.tell(f"{self.name}: {said}")
        self._told = said or self._told

    def _is_away_too_long(self, error: KubernetesError, *, has_ended: bool) -> bool:
        now = self.timer.now()
        if self._away_since is None:
            self._away_since = now
            meanwhile = (
                "has ended; its last lines are missing" if has_ended else "goes on meanwhile"
            )
            self.tell(f"{error}. The run {meanwhile}: trying again")
        return now - self._away_since > (LATE_S if has_ended else AWAY_S)

    def _conclude(self, job: Object, pod: Object | None) -> None:
        ending = _ending(job)
        if ending is None or ending["type"] == "Complete":
            return
        if ending.get("reason") == "DeadlineExceeded":
            raise stopped(self.name, "its time limit")
        ended = _terminated(pod) if pod else None
        said = str((ended or {}).get("message") or ending.get("message") or "").strip()
        code = (ended or {}).get("exitCode", 1)
        failed = JobFailed(f"{self.name} failed: {said or 'the log says why'} (exit code {code})")
        raise as_it_left(failed)


def _may_pass(error: KubernetesError) -> bool:
    """Return whether to look again: a pod that leaves its node is gone before there is another."""
    is_gone = isinstance(error, KubernetesRefused) and error.reason == "NotFound"
    return is_gone or may_pass(error)


def _ending(job: Object) -> dict[str, Any] | None:
    """Return the condition with which a Job has ended; None while it runs."""
    for each in job.get("status", {}).get("conditions", ()):
        if each["type"] in ("Complete", "Failed") and each["status"] == "True":
            return dict(each)
    return None


def _container(pod: Object) -> dict[str, Any]:
    found = pod.get("status", {}).get("containerStatuses", ())
    return next((dict(each["state"]) for each in found if each["name"] == CONTAINER), {})


def _has_begun(pod: Object) -> bool:
    return bool({"running", "terminated"} & _container(pod).keys())


def _terminated(pod: Object) -> dict[str, Any] | None:
    found = _container(pod).get("terminated")
    return None if found is None else dict(found)


def _why_waiting(pod: Object) -> str | None:
    """Return why a pod does not run yet, in Kubernetes' words: no node, no image, no volume."""
    waiting = _container(pod).get("waiting")
    if waiting:
        return " ".join(filter(None, (waiting.get("reason"), waiting.get("message"))))
    for each in pod.get("status", {}).get("conditions", ()):
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return f"{each.get('reason')}: {each.get('message')}"
    return None
