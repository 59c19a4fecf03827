"""The versions of Kubernetes that KubernetesStack offers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stacks.settings.text import shown

DEFAULT_VERSION = "1.35"
"""Pinned here and nowhere else. In standard support until 27 March 2027:
https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html. Whether it still is,
`python -m training.preflight --stacks` asks AWS."""

VERSIONS = ("1.34", "1.35", "1.36")
"""Those that kubectl of `training.kubernetes.tools` talks to: 1.35, a minor version older or newer.

https://kubernetes.io/releases/version-skew-policy/#kubectl
"""

ADDONS = (
    "vpc-cni",
    "kube-proxy",
    "eks-pod-identity-agent",
    "coredns",
    "aws-efs-csi-driver",
    "aws-fsx-csi-driver",
)
"""What the stack has EKS install and keep.

https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
"""


ADDON_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)+(-[a-z0-9.]+)?")


def problems_of_addons(versions: dict[str, str]) -> Iterator[str]:
    """Yield what is no version of an add-on of the stack."""
    for name, version in versions.items():
        if name not in ADDONS:
            yield f"{shown(name)} is no add-on of the cluster's, which are {', '.join(ADDONS)}"
        elif not ADDON_VERSION.fullmatch(version):
            yield (
                f"{shown(version)} is no version of {name}, such as v1.20.4-eksbuild.1; aws eks "
                f"describe-addon-versions --addon-name {name} lists them"
            )
