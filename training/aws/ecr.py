"""Container images in private registries."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask


@dataclass(frozen=True)
class Token:
    """What signs a container engine in to a region's registries, for twelve hours.

    https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html
    """

    user: str
    password: str = field(repr=False)


class Ecr:
    """Amazon ECR."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def image(
        self, repository: str, *, tag: str | None = None, digest: str | None = None
    ) -> dict[str, Any] | None:
        """Return an image's description; None where it, or its repository, is not there.

        Args:
            repository: Its name, in this account and region.
            tag: Of the image.
            digest: `sha256:…`; one of both is given.
        """
        image_id = {"imageTag": tag} if digest is None else {"imageDigest": digest}
        try:
            answer = ask(
                self._client, "describe_images", repositoryName=repository, imageIds=[image_id]
            )
        except AwsRefused as error:
            if error.code in ("ImageNotFoundException", "RepositoryNotFoundException"):
                return None
            raise
        return next(iter(answer["imageDetails"]), None)

    def manifest(self, repository: str, tag: str) -> str | None:
        """Return an image's manifest as it is stored; None where there is no such tag.

        Raises:
            AwsRefused: Its code is RepositoryNotFoundException where that is not there.
        """
        answer = ask(
            self._client,
            "batch_get_image",
            repositoryName=repository,
            imageIds=[{"imageTag": tag}],
        )
        found = next(iter(answer.get("images", [])), None)
        return None if found is None else str(found["imageManifest"])

    def token(self) -> Token:
        """Return a new token for the registries that the caller may use."""
        (data,) = ask(self._client, "get_authorization_token")["authorizationData"]
        user, _, password = (
            base64.b64decode(data["authorizationToken"]).decode("ascii").partition(":")
        )
        return Token(user, password)
