"""Repositories of images, and those that RegistryStack made for each algorithm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training import algorithms
from training.errors import UsageError
from training.job_options import read_outputs
from training.outputs import RegistryOutputs, output_key

if TYPE_CHECKING:
    from training.aws.clients import Clients

# Host names of private registries, dual-stack and FIPS ones among them:
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
_ECR_HOST = re.compile(r"\d{12}\.dkr[.-]ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\..+")

_READ_TIMEOUT_S = 60.0
_ATTEMPTS = 5
"""Of each request to ECR itself."""

_URI = re.compile(r"(?P<host>[^/\s@]+)/(?P<name>[a-z0-9][a-z0-9._/-]*)")


@dataclass(frozen=True)
class Destination:
    """A repository."""

    host: str
    """Of the registry, with its port where it has one."""
    name: str
    """Of the repository in it."""

    @property
    def uri(self) -> str:
        return f"{self.host}/{self.name}"

    @property
    def region(self) -> str | None:
        """AWS's region, in which tokens for it are made; None: the host does not tell."""
        found = _ECR_HOST.fullmatch(self.host)
        return found["region"] if found else None

    def tagged(self, tag: str) -> str:
        return f"{self.uri}:{tag}"

    def pinned(self, digest: str) -> str:
        """Return the name of one image for ever, which is what a job spec's `image` takes."""
        return f"{self.uri}@{digest}"


@dataclass(frozen=True)
class Registry:
    """What RegistryStack tells."""

    outputs: RegistryOutputs
    source: str
    """Where it was read: for messages."""

    def destination(self, algorithm: str) -> Destination:
        """Return the repository of an algorithm's image.

        Raises:
            UsageError: What the stack tells is none.
        """
        field = algorithms.load(algorithm).REPOSITORY
        match = _URI.fullmatch(uri := getattr(self.outputs, field))
        if match is None:
            raise UsageError(
                f"{self.source}: {RegistryOutputs.STACK}.{output_key(field)}: {uri!r} is no "
                "repository; expected HOST/NAME"
            )
        return Destination(match["host"], match["name"])


def read_registry(outputs_file: Path | None) -> Registry:
    """Read RegistryStack's outputs.

    Raises:
        UsageError: The stack, or an output, is not there.
        AwsError: CloudFormation refused or could not be reached.
    """
    outputs = read_outputs((RegistryOutputs,), outputs_file)
    return Registry(outputs.read(RegistryOutputs), outputs.source)


def of_image(image: str) -> Destination | None:
    """Return the repository of an image's full name; None where it names no registry."""
    match = _URI.fullmatch(re.sub(r"(@sha256:[0-9a-f]{64}|:[\w.-]+)$", "", image))
    return Destination(match["host"], match["name"]) if match else None


def connect(destination: Destination) -> Clients:
    """Return the clients of the repository's region.

    Raises:
        AwsError: There is no region.
    """
    from training.aws.client import new_session
    from training.aws.clients import Clients

    region, session = destination.region, new_session()
    return Clients(session, region, read_timeout_s=_READ_TIMEOUT_S, attempts=_ATTEMPTS)
