"""The version of Kubernetes, and the cluster that has it already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.eks import Eks
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources

KEY = "eks_version"
STANDARD = "STANDARD_SUPPORT"


@dataclass(frozen=True)
class KubernetesIsSupported(Check):
    """EKS has the version of Kubernetes in standard support."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "kubernetes-version-unknown": "error",
        "kubernetes-version-unsupported": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("eks:DescribeClusterVersions",)

    eks: Eks
    region: str
    version: str

    def find(self) -> Iterator[Finding]:
        found = self.eks.version(self.version)
        if found is None:
            yield self.found(
                "kubernetes-version-unknown",
                KEY,
                f"{KEY} is {self.version}, which EKS does not have in {self.region} (aws eks "
                "describe-cluster-versions lists what it has). Choose another",
            )
        elif found.get("versionStatus") != STANDARD:
            ended = found.get("endOfStandardSupportDate")
            when = f" since {ended:%Y-%m-%d}" if ended else ""
            yield self.found(
                "kubernetes-version-unsupported",
                KEY,
                f"{KEY} is {self.version}, which is no longer in standard support{when}, and "
                "KubernetesStack asks for no other: EKS makes no such cluster, and raises one that "
                "is there. Set a newer version",
            )


@dataclass(frozen=True)
class KubernetesIsRaisedByOne(Check):
    """A cluster of that name is ours, and goes to the next version at most."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "kubernetes-name-taken": "error",
        "kubernetes-version-lower": "error",
        "kubernetes-version-skipped": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
    )

    eks: Eks
    region: str
    name: str
    version: str
    own: OwnResources
    """Of KubernetesStack."""

    def find(self) -> Iterator[Finding]:
        there = self.eks.cluster(self.name)
        if there is None:
            return
        if self.name not in self.own.ids():
            yield self.found(
                "kubernetes-name-taken",
                "eks_name",
                f"eks_name is {self.name}, and {self.region} has a cluster of that name that "
                f"{self.own.stack} did not make. Set another name",
            )
            return
        has, wanted = _minor(there["version"]), _minor(self.version)
        if wanted < has:
            yield self.found(
                "kubernetes-version-lower",
                KEY,
                f"{KEY} is {self.version}, and the cluster {self.name} has {there['version']} "
                "already: EKS takes none back. Set what it has",
            )
        elif wanted > has + 1:
            yield self.found(
                "kubernetes-version-skipped",
                KEY,
                f"{KEY} is {self.version}, and the cluster {self.name} has {there['version']}: EKS "
                f"raises it one version at a time. Deploy with {KEY}=1.{has + 1} first",
            )


def _minor(version: str) -> int:
    return int(version.partition(".")[2])
