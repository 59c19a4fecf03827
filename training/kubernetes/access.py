"""How kubectl and helm reach the cluster: a kubeconfig that lives as long as the command.

It holds no secret: the cluster's address, its certificate authority, and the command that makes a
token when one is needed (training/kubernetes/token.py).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from training.errors import UsageError
from training.kubernetes.errors import KubernetesError
from training.outputs import KubernetesOutputs

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        help="How to reach the cluster instead of by the stack's outputs; KUBECONFIG by default."
    ),
]

_PROJECT = Path(__file__).resolve().parents[2]


@contextmanager
def cluster_access(cluster: KubernetesOutputs, kubeconfig: Path | None = None) -> Iterator[Path]:
    """Yield a kubeconfig for the cluster.

    Args:
        cluster: Which.
        kubeconfig: One that the user has named, which is taken as it is. That of the variable
            KUBECONFIG is taken where none is named.

    Raises:
        UsageError: The named one is not there.
        KubernetesError: The cluster is not ready.
        AwsError: AWS refused to tell of the cluster, or did not answer.
    """
    own = _named(kubeconfig)
    if own is not None:
        yield own
        return
    written = json.dumps(_kubeconfig(cluster))
    with tempfile.TemporaryDirectory(prefix="mask-rcnn-kubernetes-") as folder:
        # The folder is the user's alone.
        file = Path(folder, "kubeconfig")
        file.write_text(written, encoding="utf-8")
        yield file


def region_of(cluster: KubernetesOutputs) -> str:
    """Return the region of a cluster.

    Raises:
        UsageError: The output that tells it is no ARN.
    """
    parts = cluster.cluster_arn.split(":")
    if len(parts) < 6 or not parts[3]:
        raise UsageError(
            f"{cluster.STACK}.ClusterArn is {cluster.cluster_arn!r}; expected an ARN, "
            "arn:aws:eks:<region>:<account>:cluster/<name>"
        )
    return parts[3]


def _named(given: Path | None) -> Path | None:
    """Return the kubeconfig that the user has named, by option or variable."""
    if given is not None:
        where, name = "--kubeconfig", str(given)
    elif name := os.environ.get("KUBECONFIG", ""):
        where = "KUBECONFIG"
    else:
        return None
    # kubectl merges several of the variable; its option and helm's take one.
    if where == "KUBECONFIG" and os.pathsep in name:
        raise UsageError(
            f"KUBECONFIG: {name}: name one file, or unset it to reach the cluster of the stack"
        )
    if not Path(name).is_file():
        raise UsageError(
            f"{where}: {name}: there is no such file. Leave it out to reach the cluster of the "
            "stack"
        )
    _check_kubeconfig(where, Path(name))
    return Path(name)


def _check_kubeconfig(where: str, file: Path) -> None:
    """Refuse what helm and kubectl would read as no cluster, or as one on this machine's 8080."""
    import yaml

    try:
        found = yaml.load(file.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise UsageError(f"{where}: {file}: cannot be read ({error.strerror})") from error
    except (ValueError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise UsageError(f"{where}: {file}: is no kubeconfig: not YAML ({said})") from error
    if not isinstance(found, dict) or not found.get("clusters"):
        raise UsageError(
            f"{where}: {file}: is no kubeconfig: it names no cluster (`clusters`). Make one: aws "
            "eks update-kubeconfig --name CLUSTER --region REGION --kubeconfig FILE, or leave it "
            "out to reach the cluster of the stack"
        )


def _kubeconfig(cluster: KubernetesOutputs) -> dict[str, Any]:
    from training.aws.client import new_client, new_session
    from training.aws.eks import Eks

    region = region_of(cluster)
    found = Eks(new_client(new_session(region=region), "eks")).cluster(cluster.cluster_name)
    if found is None:
        raise UsageError(
            f"{cluster.STACK}: EKS has no cluster {cluster.cluster_name} in {region}. Was it "
            f"deleted? Deploy it again: cdk deploy {cluster.STACK}"
        )
    if not found.get("endpoint"):
        raise KubernetesError(
            f"EKS: cluster {cluster.cluster_name} is {found.get('status', 'not ready')} and has no "
            "address yet: wait until it is ACTIVE and run the command again"
        )
    return kubeconfig_of(
        name=cluster.cluster_name,
        region=region,
        endpoint=found["endpoint"],
        authority=found["certificateAuthority"]["data"],
        namespace=cluster.namespace,
    )


def kubeconfig_of(
    *, name: str, region: str, endpoint: str, authority: str, namespace: str
) -> dict[str, Any]:
    """Return a kubeconfig; JSON is YAML, which kubectl and helm read.

    Args:
        authority: The certificate authority's certificate, in base64.
    """
    command = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-m", "training.kubernetes.token", name, region],
        # kubectl may run it from any folder.
        "env": [{"name": "PYTHONPATH", "value": str(_PROJECT)}],
        "interactiveMode": "Never",
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {"server": endpoint, "certificate-authority-data": authority},
            }
        ],
        "users": [{"name": name, "user": {"exec": command}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}
        ],
        "current-context": name,
    }
