"""The cluster itself, and the add-ons that its nodes need, as AWS has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.eks import Eks
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class ClusterIsActive(Check):
    """The EKS cluster is there and active, with the Kubernetes version that plans are made for."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "cluster-missing": "error",
        "cluster-not-active": "error",
        "cluster-other-version": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("eks:DescribeCluster",)

    eks: Eks
    name: str
    version: str
    """As the stack's output has it."""

    def find(self) -> Iterator[Finding]:
        found = self.eks.cluster(self.name)
        if found is None:
            yield self.found(
                "cluster-missing",
                self.name,
                f"there is no EKS cluster {self.name} in this account and region: it was "
                "destroyed, or the outputs are old. Deploy it: cdk deploy KubernetesStack",
            )
        elif found["status"] not in {"ACTIVE", "UPDATING"}:
            yield self.found(
                "cluster-not-active",
                self.name,
                f"EKS cluster {self.name} is {found['status']}: jobs can be sent once it is ACTIVE",
            )
        elif found["version"] != self.version:
            yield self.found(
                "cluster-other-version",
                self.name,
                f"EKS cluster {self.name} runs Kubernetes {found['version']}, and the plan is made "
                f"for {self.version}, as KubernetesStack says. Set eks_version to what it runs, "
                "and deploy the stack again",
            )


@dataclass(frozen=True)
class AddonsAreThere(Check):
    """The add-ons that a job's pods need are installed, and work."""

    codes: ClassVar[Mapping[str, Severity]] = {"addon-missing": "error", "addon-unwell": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("eks:DescribeAddon",)

    eks: Eks
    cluster: str
    names: tuple[str, ...]

    def find(self) -> Iterator[Finding]:
        for name in self.names:
            found = self.eks.addon(self.cluster, name)
            if found is None:
                yield self.found(
                    "addon-missing",
                    name,
                    f"cluster {self.cluster} does not have the add-on {name}, which the job's pods "
                    "need. Deploy it: cdk deploy KubernetesStack",
                )
            elif found["status"] not in {"ACTIVE", "UPDATING"}:
                issues = found.get("health", {}).get("issues") or ()
                said = "; ".join(str(each.get("message")) for each in issues)
                yield self.found(
                    "addon-unwell",
                    name,
                    f"add-on {name} of cluster {self.cluster} is {found['status']}"
                    f"{f': {said}' if said else ''}",
                )
