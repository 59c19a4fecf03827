"""ECR before another registry: repositories lead to it, and what it has, ECR has."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from moto.ecr.exceptions import ImageNotFoundException

from localaws.container_registry import VARIABLE, RegistryBackend

KIND = "application/vnd.docker.distribution.manifest.v2+json"
MANIFEST = json.dumps({"config": {"size": 2}, "layers": [], "mediaType": KIND})
DIGEST = "sha256:" + "a" * 64


class Handler(BaseHTTPRequestHandler):
    """A registry with one image, for who has the token."""

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Basic QVdTOjEyMzQ1Njc4OTAxMi1hdXRoLXRva2Vu":
            self.send_error(401)
        elif self.path == "/v2/horovod/tags/list":
            self._send(json.dumps({"name": "horovod", "tags": ["one"]}))
        elif self.path == "/v2/horovod/manifests/one" and KIND in self.headers["Accept"]:
            self._send(MANIFEST)
        else:
            self.send_error(404)

    def _send(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", KIND)
        self.send_header("Docker-Content-Digest", DIGEST)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    monkeypatch.setenv(VARIABLE, f"127.0.0.1:{server.server_port}")
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def backend(*names: str) -> RegistryBackend:
    made = RegistryBackend("us-east-1", "123456789012")
    for name in names:
        made.create_repository(name, None, {}, None, "IMMUTABLE", [])
    return made


def test_images_of_the_registry_are_ecrs(host: str) -> None:
    ecr = backend("horovod", "tensorpack")
    assert ecr.repositories["horovod"].uri == f"{host}/horovod"
    for _ in range(2):  # taken over once
        (image,) = ecr.describe_images("horovod")
        assert (image.image_tags, image.image_digest) == (["one"], DIGEST)
    (found,) = ecr.batch_get_image("horovod", image_ids=[{"imageTag": "one"}])["images"]
    assert found.get_image_manifest() == MANIFEST
    assert list(ecr.describe_images("tensorpack")) == []


def test_a_registry_that_does_not_run_has_nothing(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "127.0.0.1:1")
    with pytest.raises(ImageNotFoundException):
        backend("horovod").describe_images("horovod", image_ids=[{"imageTag": "one"}])


def test_without_the_variable_ecr_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    made = backend("horovod")
    uri = made.repositories["horovod"].uri
    assert uri == "123456789012.dkr.ecr.us-east-1.amazonaws.com/horovod"
    assert list(made.describe_images("horovod")) == []
