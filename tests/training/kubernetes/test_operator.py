from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.training.kubernetes.in_cluster import MANIFEST
from training.errors import AwsError, UsageError
from training.kubernetes import operator


@pytest.fixture
def address() -> Iterator[str]:
    """Where a server has the manifest, and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = {"/manifest": MANIFEST.encode(), "/large": b"x" * 5_000_000}.get(self.path)
            self.send_response(200 if content else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def sha256(monkeypatch: pytest.MonkeyPatch) -> str:
    digest = hashlib.sha256(MANIFEST.encode()).hexdigest()
    monkeypatch.setattr(operator, "SHA256", digest)
    return digest


@pytest.mark.usefixtures("sha256")
def test_the_manifest_is_fetched_and_checked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator, "ADDRESS", f"{address}/manifest")
    assert operator.read_manifest(None) == MANIFEST


@pytest.mark.parametrize(("path", "said"), [("gone", "HTTP 404"), ("large", "more than")])
def test_what_cannot_be_fetched_is_told_with_the_way_without_internet(
    address: str, path: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator, "ADDRESS", f"{address}/{path}")
    with pytest.raises(AwsError, match=rf"{said}.*--mpi-operator-manifest FILE"):
        operator.read_manifest(None)


def test_another_content_than_the_pinned_one_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(operator, "ADDRESS", f"{address}/manifest")
    with pytest.raises(AwsError, match=operator.SHA256):
        operator.read_manifest(None)
    file = tmp_path / "manifest.yaml"
    file.write_text(MANIFEST)
    with pytest.raises(UsageError, match=operator.SHA256):
        operator.read_manifest(file)
    with pytest.raises(UsageError, match="cannot be read"):
        operator.read_manifest(tmp_path / "gone")


def test_only_the_operators_own_pod_differs_from_the_manifest() -> None:
    documents = list(yaml.safe_load_all(MANIFEST))
    made = operator.objects(MANIFEST, "mirror.example/mpi-operator:0.8.0")
    assert made[:-1] == documents[:-1]
    pod = made[-1]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "mirror.example/mpi-operator:0.8.0"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod["nodeSelector"] == {"mask-rcnn/node": "system"}
    assert list(yaml.safe_load_all(operator.to_manifest(made))) == made
