"""The MPI Operator, which makes a job's pods: its authors' manifest, fetched and checked.

It is not part of this project. What is installed differs from it in where the operator may run and
what it is denied, and in the image's address.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.errors import AwsError, TrainingError, UsageError
from training.kubernetes.client import Object

VERSION = "0.8.0"
ADDRESS = (
    "https://raw.githubusercontent.com/kubeflow/mpi-operator/"
    "101db144e019e1de65aaded07745e9d805c2852a/deploy/v2beta1/mpi-operator.yaml"
)
"""The commit of the tag v0.8.0."""
SHA256 = "b38def13a94abe60b2a4b3485239d77f64892b8fbd202e9e435a6031b7500a8f"
NAMESPACE = "mpi-operator"
DEPLOYMENT = "mpi-operator"
JOB_KIND = "mpijobs.kubeflow.org"

_MOST_BYTES = 4_000_000
_TIMEOUT_S = 30.0


def read_manifest(file: Path | None) -> str:
    """Return the authors' manifest, from a file or from their address.

    Raises:
        UsageError: The file cannot be read, or is another.
        AwsError: It cannot be fetched, or something else was.
    """
    error: type[TrainingError]
    if file is None:
        content, place, error = _fetch(ADDRESS), ADDRESS, AwsError
    else:
        try:
            content, place, error = file.read_bytes(), str(file), UsageError
        except OSError as failure:
            raise UsageError(
                f"--mpi-operator-manifest {file}: cannot be read ({failure.strerror})"
            ) from failure
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise error(
            f"{place}: the manifest of MPI Operator {VERSION} has the sha256 {SHA256}, and this "
            f"has {found}. Fetch it anew from {ADDRESS}"
        )
    return content.decode()


def objects(manifest: str, image: str) -> list[Object]:
    """Return what is installed: the manifest's objects, the operator's deployment hardened."""
    import yaml

    documents = [each for each in yaml.load_all(manifest, yaml.CSafeLoader) if each]
    return [_hardened(each, image) if each["kind"] == "Deployment" else each for each in documents]


def to_manifest(documents: list[Object]) -> str:
    """Return objects as kubectl takes them: YAML, of which JSON is a part."""
    return "\n---\n".join(json.dumps(each) for each in documents)


def _hardened(deployment: Object, image: str) -> Object:
    """Return the deployment as a pod that the `restricted` standard takes, on a system node."""
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    spec |= {
        "nodeSelector": {"mask-rcnn/node": "system"},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # It may write its log to a file there as well.
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}}],
    }
    container |= {
        "image": image,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108  in its own pod
    }
    return deployment


def _fetch(address: str) -> bytes:
    import urllib3

    http = urllib3.PoolManager(timeout=_TIMEOUT_S, retries=urllib3.Retry(3, redirect=3))
    try:
        with http.request("GET", address, preload_content=False) as answer:
            if answer.status != 200:
                raise _not_fetched(address, f"HTTP {answer.status}")
            return b"".join(_limited(answer, address))
    except urllib3.exceptions.HTTPError as error:
        raise _not_fetched(address, str(error)) from error


def _limited(answer: Any, address: str) -> Iterator[bytes]:
    left = _MOST_BYTES
    for part in answer.stream(65536):
        left -= len(part)
        if left < 0:
            raise _not_fetched(address, f"more than {_MOST_BYTES} bytes")
        yield part


def _not_fetched(address: str, why: str) -> AwsError:
    return AwsError(
        f"{address}: cannot be fetched ({why}). Without internet, fetch it elsewhere and name the "
        "file: --mpi-operator-manifest FILE"
    )
