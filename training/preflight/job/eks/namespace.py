"""What a job finds in its namespace: service account, claims of volumes, quotas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from training.platforms.eks.commands import INSTALL
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.eks.inside import ACTIONS, Inside

GPUS = "requests.nvidia.com/gpu"
"""A quota counts extended resources by their requests:
https://kubernetes.io/docs/concepts/policy/resource-quotas/"""


@dataclass(frozen=True)
class NamespaceIsReady(Check):
    """The namespace is there, with the service account that jobs run as."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "namespace-missing": "error",
        "service-account-missing": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside

    def find(self) -> Iterator[Finding]:
        cluster = self.inside.cluster
        found = self.inside.ask(
            lambda connection: (
                connection.kubernetes.get("namespaces", cluster.namespace),
                connection.kubernetes.get("serviceaccounts", cluster.service_account),
            )
        )
        if found is None:
            return
        namespace, account = found
        if namespace is None:
            yield self.found(
                "namespace-missing",
                cluster.namespace,
                f"the cluster has no namespace {cluster.namespace}: {INSTALL} makes it",
            )
        elif account is None:
            yield self.found(
                "service-account-missing",
                cluster.service_account,
                f"namespace {cluster.namespace} has no service account {cluster.service_account}, "
                f"which jobs run as: {INSTALL} makes it",
            )


@dataclass(frozen=True)
class ClaimsAreBound(Check):
    """The claims of the file systems that the job mounts are bound, to those of StorageStack."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "claim-missing": "error",
        "claim-not-bound": "error",
        "volume-of-another": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside
    file_systems: Mapping[str, str]
    """By the name of the claim: the file system's id."""

    def find(self) -> Iterator[Finding]:
        for name, file_system in self.file_systems.items():
            yield from self._judge(name, file_system)

    def _judge(self, name: str, file_system: str) -> Iterator[Finding]:
        asked = self.inside.ask(
            lambda connection: (connection.kubernetes.get("persistentvolumeclaims", name),)
        )
        if asked is None:
            return
        (claim,) = asked
        if claim is None:
            yield self.found(
                "claim-missing",
                name,
                f"namespace {self.inside.cluster.namespace} has no volume claim {name}: {INSTALL} "
                "makes it",
            )
        elif (phase := claim.get("status", {}).get("phase")) != "Bound":
            yield self.found(
                "claim-not-bound",
                name,
                f"volume claim {name} is {phase}, and pods that mount it do not start. Install it "
                f"anew: {INSTALL}",
            )
        else:
            yield from self._judge_volume(claim, file_system)

    def _judge_volume(self, claim: Mapping[str, Any], file_system: str) -> Iterator[Finding]:
        volume = claim["spec"].get("volumeName", "")
        found = self.inside.ask(
            lambda connection: connection.kubernetes.get("persistentvolumes", volume)
        )
        handle = str((found or {}).get("spec", {}).get("csi", {}).get("volumeHandle", ""))
        # EFS's handle may go on with a folder or an access point: fs-...:/path.
        if handle and handle.partition(":")[0] != file_system:
            yield self.found(
                "volume-of-another",
                str(claim["metadata"]["name"]),
                f"volume {volume} is file system {handle}, and StorageStack's is {file_system}: "
                f"the job would read and write elsewhere. Install it anew: {INSTALL}",
            )


@dataclass(frozen=True)
class NamespaceQuotaSuffices(Check):
    """The namespace's own quotas have room for the job's GPUs and pods."""

    codes: ClassVar[Mapping[str, Severity]] = {"namespace-quota-too-small": "warning"}
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside
    gpus: int
    pods: int

    def find(self) -> Iterator[Finding]:
        quotas = self.inside.ask(lambda connection: connection.kubernetes.list("resourcequotas"))
        for quota in quotas or ():
            status = quota.get("status", {})
            hard, used = status.get("hard", {}), status.get("used", {})
            for resource, wanted in ((GPUS, self.gpus), ("pods", self.pods)):
                limit = hard.get(resource)
                # Counts of things are whole numbers; nobody writes them otherwise.
                if limit is None or not str(limit).isdecimal():
                    continue
                taken = int(used.get(resource, 0))
                if taken + wanted > int(limit):
                    yield self.found(
                        "namespace-quota-too-small",
                        "instances.count",
                        f"resource quota {quota['metadata']['name']} of the namespace allows "
                        f"{limit} {resource}, of which {taken} are used, and the job takes "
                        f"{wanted}: its pods are not made until others have gone",
                    )
