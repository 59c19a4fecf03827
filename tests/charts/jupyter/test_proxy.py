"""The chart's own configuration in a real nginx, before servers that tell what reached them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.charts.jupyter.asking import HASHES, PASSWORD, VALUES, ask, ask_plainly, login
from tests.charts.jupyter.stand import Stand, standing

pytestmark = pytest.mark.xdist_group("jupyter-proxy")

JUPYTER, TENSORBOARD = 8443, 6443
ELB = "k8s-kubeflow-maskrcnn-0123456789.elb.us-west-2.amazonaws.com"

both = pytest.mark.parametrize("port", [JUPYTER, TENSORBOARD])


class Upstream(BaseHTTPRequestHandler):
    """Answers with the request that it got."""

    def do_GET(self) -> None:
        text = json.dumps({"path": self.path, "headers": dict(self.headers)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def proxy(folder: Path, **changes: Any) -> Iterator[Stand]:
    """Run the proxy before two servers of the test."""
    claims = {"mask-rcnn-fsx": folder}
    with standing("maskrcnn-jupyter", VALUES | changes, folder / "stand", claims=claims) as stand:
        servers = [
            ThreadingHTTPServer(("127.0.0.1", stand.ports[port]), Upstream) for port in (8888, 6006)
        ]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            stand.start_proxy()
            yield stand
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with proxy(tmp_path_factory.mktemp("proxy")) as running:
        yield running


def test_jupyter_is_reached_and_told_that_the_browser_speaks_https(stand: Stand) -> None:
    answer = ask(stand, JUPYTER, "/lab?token=a", host=f"{ELB}:443")
    assert answer.status == 200
    got = json.loads(answer.body)
    assert got["path"] == "/lab?token=a"
    assert got["headers"]["Host"] == f"{ELB}:443"
    assert got["headers"]["X-Forwarded-Proto"] == "https"
    assert got["headers"]["X-Forwarded-For"] == "127.0.0.1"


def test_tensorboard_is_reached_with_the_password_and_gets_neither_it_nor_cookies(
    stand: Stand,
) -> None:
    headers = {**login(PASSWORD), "Cookie": "username-localhost-8443=secret"}
    answer = ask(stand, TENSORBOARD, "/data/runs", headers=headers)
    assert answer.status == 200
    got = json.loads(answer.body)["headers"]
    assert {"Authorization", "Cookie"} & set(got) == set()
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    "headers",
    [{}, login("wrong"), login(""), login(PASSWORD, "root"), {"Authorization": "Bearer x"}],
    ids=["none", "wrong", "empty", "other user", "no password"],
)
def test_tensorboard_without_the_right_password_is_refused(
    stand: Stand, headers: dict[str, str]
) -> None:
    answer = ask(stand, TENSORBOARD, "/data/runs", headers=headers)
    assert answer.status == 401
    assert "data/runs" not in answer.body


@both
@pytest.mark.parametrize(
    "host", ["evil.example", "203.0.113.9", f"{ELB}.evil.example", f"evil.example.{ELB}", "a.b.c"]
)
def test_another_host_is_refused(stand: Stand, port: int, host: str) -> None:
    assert ask(stand, port, host=host, headers=login(PASSWORD)).status == 421


@both
def test_plain_http_is_refused(stand: Stand, port: int) -> None:
    answer = ask_plainly(stand, port)
    assert answer.status == 400
    assert "plain HTTP request was sent to HTTPS port" in answer.body


@both
def test_who_comes_from_elsewhere_is_refused(stand: Stand, port: int) -> None:
    # The loopback's first address is `kubectl port-forward`; another one is not in source_cidr.
    answer = ask(stand, port, source="127.0.0.2", headers=login(PASSWORD))
    assert answer.status == 403


def test_who_comes_from_the_network_of_the_values_is_let_in(tmp_path: Path) -> None:
    place = {**VALUES["global"], "source_cidr": ["203.0.113.7/32", "127.0.0.16/28"]}
    with proxy(tmp_path, **{"global": place}) as stand:
        assert ask(stand, JUPYTER, source="127.0.0.17").status == 200
        assert ask(stand, JUPYTER, source="127.0.0.32").status == 403


def test_names_of_ones_own_take_the_place_of_those_of_aws(tmp_path: Path) -> None:
    with proxy(tmp_path, hosts=["jupyter.example.com"]) as stand:
        assert ask(stand, JUPYTER, host="jupyter.example.com").status == 200
        assert ask(stand, JUPYTER, host=ELB).status == 421
        assert ask(stand, JUPYTER, host="localhost").status == 200


LONGEST = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])
INTERNAL = (
    "internal-k8s-kubeflow-maskrcnn-0123456789abcdef0123456789.elb.ap-southeast-2.amazonaws.com"
)


def test_names_as_long_as_they_may_be_are_answered(tmp_path: Path) -> None:
    assert len(LONGEST) == 253
    with proxy(tmp_path, hosts=[LONGEST, INTERNAL, *(f"{'h' * 60}{n}.a" for n in range(48))]) as on:
        for host in (LONGEST, INTERNAL, f"{'h' * 60}47.a"):
            assert ask(on, JUPYTER, host=host).status == 200


@pytest.mark.parametrize("kind", [kind for kind in HASHES if kind != "bcrypt"])
def test_an_old_hash_works_where_it_is_allowed(tmp_path: Path, kind: str) -> None:
    with proxy(tmp_path, htpasswd=HASHES[kind], allowLegacyHash=True) as stand:
        assert ask(stand, TENSORBOARD, headers=login(PASSWORD)).status == 200
        assert ask(stand, TENSORBOARD, headers=login("wrong")).status == 401


def test_no_log_holds_what_stands_behind_a_question_mark(stand: Stand) -> None:
    ask(stand, JUPYTER, "/lab?token=abcdefgh")
    ask(stand, JUPYTER, "/lab?token=abcdefgh", host="evil.example")
    log = stand.log("proxy")
    assert f"{stand.ports[JUPYTER]} GET /lab 200" in log
    assert "abcdefgh" not in log
