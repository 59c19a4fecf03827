"""What the test charts refuse, each with the key, what was given and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.charts.jupyter.asking import HASHES, PASSWORD
from tests.charts.jupyter.test_chart import values
from tests.charts.rendering import refusal

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no source": ({"global": {"source_cidr": ""}}, "global.source_cidr is required"),
    "everyone": ({"global": {"source_cidr": "0.0.0.0/0"}}, "0.0.0.0/0 opens Jupyter"),
    "half of everyone": (
        {"global": {"source_cidr": ["203.0.113.7/32", "128.0.0.0/1"]}},
        "128.0.0.0/1 opens Jupyter",
    ),
    "no prefix": ({"global": {"source_cidr": "203.0.113.7"}}, "must be an IPv4 network"),
    "no address": ({"global": {"source_cidr": "203.0.113.256/32"}}, "must be an IPv4 network"),
    "nginx": ({"global": {"source_cidr": "203.0.113.7/32; allow all"}}, "must be an IPv4 network"),
    "no log folder": ({"global": {"log_dir": ""}}, "global.log_dir is required"),
    "a folder above": ({"global": {"log_dir": "../other"}}, "global.log_dir: ../other"),
    "a root folder": ({"global": {"data_dir": "/fsx/x"}}, "global.data_dir: /fsx/x"),
    "file system": ({"global": {"shared_fs": "s3"}}, "/global/shared_fs"),
    "no password": ({"htpasswd": ""}, "htpasswd or htpasswd_secret is required"),
    "two passwords": ({"htpasswd_secret": "x"}, "htpasswd or htpasswd_secret is required"),
    "latest": ({"image": "registry/jupyter:latest"}, "image: registry/jupyter:latest"),
    "no tag": ({"image": "registry:5000/jupyter"}, "image: registry:5000/jupyter"),
    "short token": ({"jupyter": {"token": "short"}}, "jupyter.token: must be 32 to 256"),
    "two tokens": (
        {"jupyter": {"token": "t" * 40, "token_secret": "x"}},
        "jupyter.token and jupyter.token_secret",
    ),
    "host": ({"hosts": ["a.example; }"]}, "/hosts/0"),
    "user": ({"tensorboard": {"user": "a:b"}}, "/tensorboard/user"),
    "unknown": ({"nginx": {"htpasswd": "x"}}, "additional properties 'nginx' not allowed"),
    "unknown below": ({"jupyter": {"port": 80}}, "additional properties 'port' not allowed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_refused(name: str) -> None:
    change, message = WRONG[name]
    assert message in refusal("maskrcnn-jupyter", values(change))


@pytest.mark.parametrize("kind", ["apr1", "md5", "sha1", "plain"])
def test_an_old_hash_is_refused_and_not_repeated(kind: str) -> None:
    said = refusal("maskrcnn-jupyter", values({"htpasswd": HASHES[kind]}))
    assert "guessed quickly, and refused" in said
    assert "allowLegacyHash=true" in said
    assert HASHES[kind] not in said


@pytest.mark.parametrize(
    "hashed",
    [
        PASSWORD,
        HASHES["bcrypt"][:-1],
        HASHES["bcrypt"].replace("$08$", "$04$"),
        "$2y$31$" + "a" * 53,
    ],
)
def test_what_is_no_hash_is_refused_whatever_is_allowed(hashed: str) -> None:
    said = refusal("maskrcnn-jupyter", values({"htpasswd": hashed, "allowLegacyHash": True}))
    assert "not a hash that is known here" in said
    assert hashed not in said
