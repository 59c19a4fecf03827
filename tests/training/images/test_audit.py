"""Known faults in pinned packages: the real pip-audit, and a server that answers as OSV does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from typer.testing import CliRunner

from training.errors import JobFailed, PreflightError, TrainingError
from training.images.__main__ import app

FAULT = {
    "id": "PYSEC-2099-1",
    "aliases": ["CVE-2099-1"],
    "modified": "2099-01-01T00:00:00Z",
    "summary": "It is too fast.",
    "affected": [
        {
            "package": {"name": "dllogger-of-tests", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
        }
    ],
}


class Osv(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012
    faulty = ""

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = query["package"]["name"]
        self.asked.append(name)
        fault = json.loads(json.dumps(FAULT).replace("dllogger-of-tests", name))
        body = json.dumps({"vulns": [fault]} if name == self.faulty else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def osv(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Osv.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()


def audit(*arguments: str) -> Any:
    done = CliRunner().invoke(app, ["audit", "--algorithm", "tf2-smddp", *arguments])
    if isinstance(done.exception, TrainingError):
        raise done.exception
    return done


@pytest.mark.slow
def test_each_pinned_package_is_asked_about(osv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Osv, "faulty", "")
    done = audit("--service", "osv", "--osv-url", osv)
    assert Osv.asked == ["pycocotools"]
    assert (done.exit_code, done.stdout) == (0, "")


@pytest.mark.slow
def test_a_fault_is_told_with_the_version_that_mends_it(
    osv: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Osv, "faulty", "pycocotools")
    with pytest.raises(PreflightError, match="1 known faults"):
        audit("--service", "osv", "--osv-url", osv)


@pytest.mark.slow
def test_nobody_to_ask_is_no_clean_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JobFailed, match="pip-audit gave no answer"):
        audit("--service", "osv", "--osv-url", "http://127.0.0.1:1/v1/query")


def test_odd_options_are_refused() -> None:
    with pytest.raises(TrainingError, match="'nvd' is not one of pypi, osv"):
        audit("--service", "nvd")
    with pytest.raises(TrainingError, match="goes with --service osv, not pypi"):
        audit("--osv-url", "http://127.0.0.1:1")
