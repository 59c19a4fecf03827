"""What the test charts refuse, each with the key, what was given and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.charts.jupyter.asking import HASHES, PASSWORD
from tests.charts.jupyter.test_chart import values
from tests.charts.rendering import refusal, run

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
    "short token": ({"jupyter": {"token": "short"}}, "jupyter.token: must be 32 to 256"),
    "two tokens": (
        {"jupyter": {"token": "t" * 40, "token_secret": "x"}},
        "jupyter.token and jupyter.token_secret",
    ),
    "host": ({"hosts": ["a.example; }"]}, "/hosts/0"),
    "long host": ({"hosts": [".".join(["a" * 63] * 4)]}, "/hosts/0': maxLength: got 255, want 253"),
    "long label": ({"hosts": ["a" * 64 + ".example"]}, "/hosts/0"),
    "user": ({"tensorboard": {"user": "a:b"}}, "/tensorboard/user"),
    "unknown": ({"proxy": {}}, "additional properties 'proxy' not allowed"),
    "unknown below": ({"jupyter": {"ports": 80}}, "additional properties 'ports' not allowed"),
    "an old key": (
        {"nginx": {"htpasswd": "x"}},
        "nginx: there is no such key any more: the password is htpasswd, its user tensorboard.user",
    ),
    "an old port": ({"jupyter": {"port": 80}}, "jupyter.port: there is no such key any more"),
    "an old name": ({"tensorboard": {"name": "x"}}, "global.name names the objects"),
    "type": ({"jupyter": {"gpu_instance_type": "x9.huge"}}, "/jupyter/gpu_instance_type"),
    "type without GPU": ({"jupyter": {"gpu_instance_type": "m5.large"}}, "'g5.xlarge'"),
    "too many cores": (
        {"jupyter": {"gpu_instance_type": "g5.xlarge", "cpu": "3500m"}},
        "jupyter.cpu: 3500m, tensorboard.cpu: 1, the proxy: 500m: the pod would ask for 5 core(s), "
        "and a g5.xlarge has 4",
    ),
    "too much memory": (
        {"jupyter": {"gpu_instance_type": "g5.xlarge", "memory": "12Gi"}},
        "the pod would ask for 16512 MiB, and a g5.xlarge has 16384",
    ),
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
        "$2x$08$" + "a" * 53,
    ],
)
def test_what_is_no_hash_is_refused_whatever_is_allowed(hashed: str) -> None:
    said = refusal("maskrcnn-jupyter", values({"htpasswd": hashed, "allowLegacyHash": True}))
    assert "not a hash that is known here" in said
    assert hashed not in said


@pytest.mark.parametrize("cost", ["04", "13", "31"])
def test_a_hash_of_another_cost_is_told_which_costs_are_taken(cost: str) -> None:
    hashed = HASHES["bcrypt"].replace("$08$", f"${cost}$")

    said = refusal("maskrcnn-jupyter", values({"htpasswd": hashed, "allowLegacyHash": True}))

    assert f"htpasswd: a bcrypt hash of cost {cost}: expected 5 to 12" in said
    assert hashed not in said


@pytest.mark.parametrize("flag", ["--set", "--set-string"])
def test_a_hash_that_helm_takes_for_a_list_is_not_repeated(flag: str) -> None:
    given = values({"allowLegacyHash": True})
    del given["htpasswd"]
    words = ["template", "job", "charts/maskrcnn-jupyter"]

    done = run([*words, flag, f"htpasswd={HASHES['sha1']}"], given)

    assert done.returncode != 0
    assert "htpasswd: a hash that begins with { is a list" in done.stderr
    assert HASHES["sha1"].removeprefix("{SHA}").rstrip("=") not in done.stderr
    assert run([*words, "--set-literal", f"htpasswd={HASHES['sha1']}"], given).returncode == 0


NAMES = [
    ("global", "shared_pvc"),
    ("tls", "secret"),
    ("jupyter", "token_secret"),
    (None, "htpasswd_secret"),
    ("global", "name"),
    ("global", "namespace"),
]


@pytest.mark.parametrize(("section", "key"), NAMES)
@pytest.mark.parametrize(
    "name", ["x\n            readOnly: false", "x}", "A", "-a", "a" * 64, "a b"]
)
def test_a_name_that_kubernetes_has_not_is_refused(
    section: str | None, key: str, name: str
) -> None:
    change: dict[str, Any] = {section: {key: name}} if section else {key: name}

    said = refusal("maskrcnn-jupyter", values(change))

    assert f"at '/{section}/{key}'" in said if section else f"at '/{key}'" in said
