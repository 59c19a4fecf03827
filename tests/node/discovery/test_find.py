"""The hosts of this moment, with real files and a real port."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from node import config, registrations
from node.discovery.find import discover
from node.errors import NodeError
from node.registrations import Registration
from tests.node import aws_fake
from tests.node.aws_fake import AwsFake
from tests.node.discovery.test_choice import node
from tests.node.setup.host import CONFIG, PROJECT


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AwsFake:
    return aws_fake.install(tmp_path / "aws", monkeypatch)


@pytest.fixture
def port() -> Iterator[int]:
    """Open on 127.0.0.1 to .9, and on nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def cluster(tmp_path: Path) -> config.NodeConfig:
    file = tmp_path / "node.json"
    efs = {**CONFIG["efs"], "mount": str(tmp_path / "efs")}
    file.write_text(json.dumps({**CONFIG, "efs": efs}))
    return config.load(file)


def register(cluster: config.NodeConfig, *nodes: Registration) -> None:
    for one in nodes:
        registrations.write(cluster.nodes, replace(one, time=time.time()))


def groups(*ids: str) -> dict[str, Any]:
    instances = [
        {"InstanceId": one, "LifecycleState": "InService", "HealthStatus": "Healthy"} for one in ids
    ]
    return {
        "AutoScalingGroups": [
            {"AutoScalingGroupName": "vision-head", "Instances": []},
            {"AutoScalingGroupName": "vision-workers", "Instances": instances},
        ]
    }


def test_a_host_is_one_that_answers(cluster: config.NodeConfig, aws: AwsFake, port: int) -> None:
    good = node(1, address="127.0.0.1")
    register(cluster, good, node(2, address="127.0.0.2"))
    aws.answers(describe_auto_scaling_groups=[groups("i-00000001", "i-00000002", "i-00000003")])
    found = discover(cluster, port=port)
    assert [(one.instance_id, one.slots) for one in found.hosts] == [("i-00000001", 8)]
    assert [(one.instance_id, one.reason) for one in found.left_out] == [
        ("i-00000003", "has not registered; the log of its set-up: stream i-00000003/setup"),
        ("i-00000002", f"port {port} of 127.0.0.2 does not answer"),
    ]
    assert found.groups_asked
    assert aws.calls == [
        [
            *("autoscaling", "describe-auto-scaling-groups"),
            *("--auto-scaling-group-names", "vision-head", "vision-workers"),
            *("--region", "eu-central-1", "--output", "json"),
        ]
    ]


@pytest.mark.parametrize(
    "answer",
    [
        ["AccessDenied", "no"],
        {"AutoScalingGroups": []},
        {"AutoScalingGroups": [{"Instances": [1]}]},
        [],
        "<html>",
    ],
)
def test_where_aws_cannot_be_asked_the_register_counts_and_it_is_said(
    answer: Any,
    cluster: config.NodeConfig,
    aws: AwsFake,
    port: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    register(cluster, node(1, address="127.0.0.1"))
    aws.answers(describe_auto_scaling_groups=[answer if answer != [] else ["Throttling", "later"]])
    found = discover(cluster, port=port)
    assert [one.instance_id for one in found.hosts] == ["i-00000001"]
    assert not found.groups_asked
    said = capsys.readouterr().err
    assert said.startswith("hosts: the auto-scaling groups cannot be asked, so the register alone")


def test_a_register_that_does_not_answer_is_an_error(
    cluster: config.NodeConfig, aws: AwsFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.answers(describe_auto_scaling_groups=[groups()])
    monkeypatch.setattr("node.discovery.find._READ_S", 0.2)
    monkeypatch.setattr("node.discovery.find.registrations.read_all", lambda *_: time.sleep(1000))
    with pytest.raises(NodeError, match="cannot be read: the file system does not answer"):
        discover(cluster)


def hosts(cluster_file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    programs = (cluster_file.parent / "aws/bin", Path(sys.base_prefix) / "bin", "/usr/bin", "/bin")
    return subprocess.run(
        ["bash", PROJECT / "node" / "hosts", *options],
        env={
            "MASK_RCNN_NODE_CONFIG": str(cluster_file),
            "PATH": ":".join(map(str, programs)),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_prints_lines_for_horovod_and_json_for_others(
    cluster: config.NodeConfig, aws: AwsFake, tmp_path: Path
) -> None:
    """Nobody listens on port 2222 here, so that no host is found."""
    register(cluster, node(1, address="127.77.0.1"))
    (cluster.nodes / "i-00000009.json").write_text("{")
    aws.answers(describe_auto_scaling_groups=[groups("i-00000001")])
    plain = hosts(tmp_path / "node.json")
    assert (plain.returncode, plain.stdout) == (0, "")
    assert "i-00000009.json: is no JSON, or only a part of it; left out" in plain.stderr
    told = json.loads(hosts(tmp_path / "node.json", "--json").stdout)
    assert told["groups_asked"] is True
    assert told["hosts"] == []
    [one] = told["left_out"]
    assert one == {
        "instance_id": "i-00000001",
        "role": "worker",
        "address": "127.77.0.1",
        "reason": "port 2222 of 127.77.0.1 does not answer",
    }


def test_a_thousand_hosts_are_found_in_the_time_that_it_may_take(
    cluster: config.NodeConfig, aws: AwsFake, port: int
) -> None:
    ids = [f"i-{number:08x}" for number in range(1000)]
    for number, instance_id in enumerate(ids):
        # All of 127.0.0.0/8 is this machine, but the port is open on one address only.
        address = f"127.9.{number // 250}.{number % 250 + 1}"
        register(cluster, node(1, instance_id=instance_id, address=address))
    register(cluster, node(1, instance_id="i-00000000", address="127.0.0.1"))
    aws.answers(describe_auto_scaling_groups=[groups(*ids)])
    begin = time.monotonic()
    found = discover(cluster, port=port)
    assert time.monotonic() - begin < 15
    assert [one.address for one in found.hosts] == ["127.0.0.1"]
    assert len(found.left_out) == 999
