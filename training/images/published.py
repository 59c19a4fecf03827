"""What a repository holds of an image: its digest and layers, as ECR tells."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from training.aws.ecr import Ecr
from training.aws.errors import AwsRefused
from training.errors import AwsError, UsageError
from training.images.destination import Destination
from training.outputs import RegistryOutputs

_LOOKS = 5
_BETWEEN_LOOKS_S = 1.0
"""A moment after a push, ECR may not list the image yet."""

OF_DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
"""Manifests of Docker's own format, which all of SageMaker takes; it refuses OCI's for models
(https://github.com/aws/amazon-sagemaker-feedback/issues/180) and documents none for training."""


@dataclass(frozen=True)
class Layer:
    """One layer, as it is stored: compressed."""

    digest: str
    size_bytes: int


@dataclass(frozen=True)
class Published:
    """An image in a repository."""

    digest: str
    """Of its manifest: what a job is pinned by."""
    media_type: str
    """Of its manifest."""
    config_digest: str | None
    """What engines call the image's id; None for a list of images of several architectures."""
    layers: tuple[Layer, ...]
    """From the base up."""

    @property
    def size_bytes(self) -> int:
        """What is moved when it is pulled."""
        return sum(layer.size_bytes for layer in self.layers)

    def is_image(self, image_id: str) -> bool:
        """Return whether an engine's image of that id is this one.

        An engine's id is the digest of the configuration, or of the manifest where it keeps images
        as registries do (docker with containerd's image store).
        """
        return image_id in (self.config_digest, self.digest)


def find(ecr: Ecr, destination: Destination, tag: str) -> Published | None:
    """Return the image of that tag, if there is one.

    Raises:
        UsageError: The repository is not there.
        AwsError: ECR refused or could not be reached, or its answer does not fit together.
    """
    try:
        manifest = ecr.manifest(destination.name, tag)
    except AwsRefused as error:
        if error.code == "RepositoryNotFoundException":
            raise no_repository(destination) from error
        raise
    return None if manifest is None else read_manifest(manifest)


def no_repository(destination: Destination) -> UsageError:
    return UsageError(
        f"{destination.uri}: there is no such repository in this account and region. Make it: cdk "
        f"deploy {RegistryOutputs.STACK}; or use the credentials, or the outputs, of the account "
        "that has it"
    )


def read_manifest(text: str) -> Published:
    """Read a manifest as it is stored: its digest is that of its bytes.

    https://github.com/opencontainers/image-spec/blob/main/manifest.md
    """
    manifest: dict[str, Any] = json.loads(text)
    config = manifest.get("config")
    return Published(
        digest=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        media_type=manifest.get("mediaType", "application/vnd.oci.image.manifest.v1+json"),
        config_digest=config["digest"] if config else None,
        layers=tuple(Layer(layer["digest"], layer["size"]) for layer in manifest.get("layers", ())),
    )


def find_pushed(
    ecr: Ecr,
    destination: Destination,
    tag: str,
    pushed: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Published:
    """Return the image that was pushed, once ECR says the same of it as the engine.

    Args:
        ecr: Whom to ask.
        destination: Where it was pushed to.
        tag: Its tag.
        pushed: The digest that the engine has told.
        sleep: Waits, for seconds.

    Raises:
        AwsError: ECR has another image, or none.
    """
    for look in range(_LOOKS):
        if look:
            sleep(_BETWEEN_LOOKS_S)
        found = find(ecr, destination, tag)
        listed = ecr.image(destination.name, tag=tag)
        if found is not None and listed is not None:
            break
    else:
        raise AwsError(
            f"{destination.tagged(tag)}: pushed as {pushed}, but ECR does not list it. Push again"
        )
    digests = {"pushed": pushed, "manifest": found.digest, "listed": listed["imageDigest"]}
    if len(set(digests.values())) > 1:
        said = ", ".join(f"{name} {digest}" for name, digest in digests.items())
        raise AwsError(
            f"{destination.tagged(tag)}: what ECR has is not what was pushed ({said}). Do not use "
            "it; look who else pushes there"
        )
    return found
