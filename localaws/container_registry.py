"""ECR before a real registry on this machine: what is pushed there, ECR knows.

`MASK_RCNN_REGISTRY=127.0.0.1:5000 python -m localaws start` makes repositories whose addresses lead
to it, such as Debian's docker-registry. It has to take the user AWS with the token that local AWS
gives, `<account>-auth-token`. Without the variable all is as moto has it.
"""

from __future__ import annotations

import base64
import json
import os
from types import ModuleType
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from moto.ecr import urls
from moto.ecr.models import ECRBackend, Image, Repository

VARIABLE = "MASK_RCNN_REGISTRY"

_TYPES = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
)


class RegistryBackend(ECRBackend):
    """ECR whose images lie in another registry."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def create_repository(self, *arguments: Any, **settings: Any) -> Repository:
        repository = super().create_repository(*arguments, **settings)
        if host := os.environ.get(VARIABLE):
            repository.uri = f"{host}/{repository.name}"
        return repository

    def describe_images(
        self,
        repository_name: str,
        registry_id: str | None = None,
        image_ids: list[dict[str, str]] | None = None,
    ) -> Any:
        self._take_images(repository_name)
        return super().describe_images(repository_name, registry_id, image_ids)

    def batch_get_image(
        self,
        repository_name: str,
        registry_id: str | None = None,
        image_ids: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        self._take_images(repository_name)
        return super().batch_get_image(repository_name, registry_id, image_ids)

    def _take_images(self, name: str) -> None:
        """Take over the tags of a repository that were pushed meanwhile."""
        repository, host = self.repositories.get(name), os.environ.get(VARIABLE)
        if repository is None or not host or not repository.uri.startswith(f"{host}/"):
            return
        known = {tag for image in repository.images for tag in image.image_tags}
        listed = self._get(host, f"{name}/tags/list")
        tags = (json.loads(listed[0])["tags"] or []) if listed else []
        for tag in sorted(set(tags) - known):
            if found := self._get(host, f"{name}/manifests/{tag}"):
                manifest, media_type, digest = found
                image = Image(self.account_id, tag, manifest, name, media_type, digest)
                repository.images.append(image)

    def _get(self, host: str, path: str) -> tuple[str, str, str] | None:
        """Return text, type and digest; None where there is nothing, or no registry runs.

        https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull
        """
        sign_in = base64.b64encode(f"AWS:{self.account_id}-auth-token".encode()).decode()
        headers = {"Authorization": f"Basic {sign_in}", "Accept": ", ".join(_TYPES)}
        request = Request(f"http://{host}/v2/{path}", headers=headers)
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=10) as answer:
                digest = answer.headers.get("Docker-Content-Digest", "")
                return answer.read().decode(), answer.headers["Content-Type"], digest
        except URLError:
            return None
