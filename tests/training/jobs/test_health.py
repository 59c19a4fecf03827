"""`python -m training.jobs health`, on groups of an AWS in this process and with a head of ours."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.training.platforms.ec2.fake_head import FakeHead
from tests.training.platforms.ec2.health.pieces import host, said
from tests.training.platforms.ec2.planning import CLUSTER, outputs
from tests.training.platforms.sagemaker.planning import STACKS
from tests.training.preflight.stacks.conftest import aws, clients, session
from training.aws.clients import Clients
from training.aws.ssm import Ssm
from training.cli import run
from training.jobs import health as command
from training.jobs.__main__ import app
from training.platforms.ec2.answer import ClusterRefused, HeadAway

__all__ = ["aws", "clients", "session"]

REDUCED = {
    "status": "ok",
    "hosts": 2,
    "ranks": 2,
    "backend": "gloo",
    "bytes": 32 << 20,
    "seconds": 0.05,
    "bus_gb_per_s": 0.671,
}


class Place:
    """A cluster of a head and two workers."""

    def __init__(self, clients: Clients, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.groups = clients.boto("autoscaling")
        ec2 = clients.boto("ec2")
        template = ec2.create_launch_template(
            LaunchTemplateName="node",
            LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "g5.xlarge"},
        )["LaunchTemplate"]["LaunchTemplateId"]
        zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        for name, size in (("HeadGroupName", 1), ("WorkerGroupName", 2)):
            self.groups.create_auto_scaling_group(
                AutoScalingGroupName=CLUSTER[name],
                LaunchTemplate={"LaunchTemplateId": template},
                **{"MinSize": 0, "MaxSize": 8, "DesiredCapacity": size},
                AvailabilityZones=[zone],
            )
        self.head = FakeHead()
        self.lost: set[str] = set()
        self._file = folder / "outputs.json"
        self._file.write_text(json.dumps({**STACKS, "ClusterStack": CLUSTER}))
        # With further attempts: of some hundred requests, one may be lost.
        monkeypatch.setattr(command, "connect", lambda _, *, attempts: {3: clients}[attempts])
        monkeypatch.setattr(command, "head_of", lambda *_, **__: self.head)
        # moto manages no nodes.
        monkeypatch.setattr(Ssm, "nodes", lambda _, ids: self._managed(ids))
        monkeypatch.setattr("training.platforms.ec2.health.node.STARTING", STARTED)

    def ids(self, group: str) -> list[str]:
        [found] = self.groups.describe_auto_scaling_groups(AutoScalingGroupNames=[CLUSTER[group]])[
            "AutoScalingGroups"
        ]
        return [
            each["InstanceId"]
            for each in found["Instances"]
            if each["LifecycleState"] == "InService"
        ]

    def say(self, *hosts: dict[str, Any], job: dict[str, Any] | None = None) -> None:
        """Let the head answer with these nodes, and be willing to replace any."""
        answer = {"hosts": list(hosts), "all_reduce": REDUCED, "busy": job}
        self.head.answers["health"] = [answer]
        self.head.answers["replace"] = [{"told": True, "job": job and "job job-1 starts again"}]

    def run(self, *arguments: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "sys.argv", ["jobs", "health", "--outputs-file", str(self._file), *arguments]
            )
            with pytest.raises(SystemExit) as left:
                run(app)
        return int(left.value.code or 0)

    def _managed(self, ids: list[str]) -> dict[str, Any]:
        online = {"PingStatus": "Online", "AgentVersion": "3.3"}
        return {each: online for each in ids if each not in self.lost}


STARTED = timedelta(0)
"""Nodes that were just made count as old."""


@pytest.fixture
def place(aws: Clients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(aws, tmp_path, monkeypatch)


def workers(place: Place, *second: dict[str, Any]) -> tuple[str, str]:
    """Let the first worker be well, and the second one say something more; return their ids."""
    one, two = place.ids("WorkerGroupName")
    well = (said("registered"), said("ssh"))
    place.say(
        host(place.ids("HeadGroupName")[0], *well), host(one, *well), host(two, *well, *second)
    )
    return one, two


def test_a_cluster_that_is_well_is_a_table_and_exit_code_0(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _ = workers(place)
    assert place.run() == 0
    head, _, first, *_, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["NODE", "ROLE", "ADDRESS", "TYPE", "VERDICT", "CHECKS"]
    cells = first.split()
    assert (cells[0], cells[1], cells[3], cells[4]) == (one, "worker", "g5.xlarge", "ok")
    assert last == (
        "all-reduce ok: 34 MB over 2 processes on 2 host(s), gloo: 50.0 ms, bus bandwidth 0.671 "
        "GB/s"
    )
    [(action, asked)] = place.head.asked
    assert asked is not None
    assert (action, asked["timeout_s"], asked["all_reduce"]) == ("health", 300, True)
    assert str(asked["image"]).startswith(STACKS["RegistryStack"]["HorovodRepositoryUri"])


def test_what_has_failed_is_named_with_exit_code_1(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    _, two = workers(place, said("gpus", "failed", "7 of the 8 GPUs"))
    assert place.run("--no-all-reduce") == 1
    told = capsys.readouterr()
    assert f"{two}: gpus: 7 of the 8 GPUs" in told.out.splitlines()
    assert told.err.strip() == (
        "error: cluster mask-rcnn is not well: 1 node(s) should be replaced (--replace)"
    )
    assert place.head.asked[0][1] is not None
    assert place.head.asked[0][1]["all_reduce"] is False


def test_json_has_every_check(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    _, two = workers(place, said("ecc", "failed", "uncorrected"))
    assert place.run("--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["cluster"], found["status"], found["replaced"]) == ("mask-rcnn", "failed", [])
    [node] = [each for each in found["nodes"] if each["instance_id"] == two]
    assert (node["verdict"], node["reasons"]) == ("replace", ["ecc: uncorrected"])
    assert {check["name"] for check in node["checks"]} >= {"group", "instance", "ssm", "ssh", "ecc"}
    assert found["all_reduce"] == REDUCED


def test_a_worker_is_replaced_after_its_job_was_told(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = workers(place, said("xid", "failed", "Xid 79"))
    assert place.run("--replace", "--yes") == 1
    assert place.head.asked[1:] == [("replace", {"instance_id": two})]
    after = place.ids("WorkerGroupName")
    # The group has as many as before: another came.
    assert (len(after), one in after, two in after) == (2, True, False)
    assert f"{two}: its group ends it and starts another worker" in capsys.readouterr().err


def test_a_node_is_replaced_by_name_too(place: Place) -> None:
    one, two = workers(place)
    assert place.run("--replace", "--node", one, "--yes") == 0
    assert set(place.ids("WorkerGroupName")) & {one, two} == {two}


def test_no_work_is_thrown_away(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    _, two = workers(place, said("xid", "failed", "Xid 79"))
    place.head.answers["replace"] = [ClusterRefused("job job-1 runs and has no checkpoint yet")]
    assert place.run("--replace", "--yes") == 4
    assert two in place.ids("WorkerGroupName")
    assert "job job-1 runs and has no checkpoint yet" in capsys.readouterr().err


def test_nobody_to_ask_means_nothing_is_replaced(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, two = workers(place, said("xid", "failed", "Xid 79"))
    monkeypatch.setattr("sys.stdin", None)
    assert place.run("--replace", "--format", "json") == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["replaced"] == []
    assert "nobody is there to agree to the replacement; add --yes" in told.err
    assert two in place.ids("WorkerGroupName")


def test_a_head_that_says_nothing_is_told_and_can_be_replaced(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    workers(place)
    [old] = place.ids("HeadGroupName")
    place.lost.add(old)
    place.head.answers = {"health": [HeadAway("no answer")], "replace": [HeadAway("no answer")]}
    assert place.run("--replace", "--node", old, "--yes") == 1
    told = capsys.readouterr()
    assert "head: no answer" in told.out.splitlines()
    assert f"{old}: ssm: Systems Manager does not know the node" in told.out
    assert "warning: without its head node nobody can ask the cluster" in told.err
    [new] = place.ids("HeadGroupName")
    assert new != old


def test_a_worker_is_kept_while_nobody_knows_of_its_job(place: Place) -> None:
    one, _ = workers(place)
    place.head.answers["replace"] = [HeadAway("no answer")]
    assert place.run("--replace", "--node", one, "--yes") == 4
    assert one in place.ids("WorkerGroupName")


def test_missing_workers_are_a_failure(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = workers(place)
    place.groups.set_instance_health(InstanceId=one, HealthStatus="Unhealthy")
    assert place.run() == 1
    assert "missing: worker group: 1 of 2 instance(s) are in service" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said_"),
    [
        (["--platform", "sagemaker"], "--platform sagemaker: has no nodes of its own"),
        (["--node", "i-1"], "--node: says which node --replace replaces; add --replace"),
        (["--replace", "--node", "i-9", "--yes"], "--node i-9: is no node of cluster mask-rcnn"),
    ],
)
def test_wrong_usage_is_told(
    place: Place, capsys: pytest.CaptureFixture[str], arguments: list[str], said_: str
) -> None:
    workers(place)
    assert place.run(*arguments) == 2
    assert said_ in capsys.readouterr().err


def test_nodes_that_torch_has_no_code_for_get_no_image(place: Place) -> None:
    from training.outputs import ClusterOutputs
    from training.platforms.ec2.health.image import image_of

    for changed in ({"WorkerInstanceType": "p3.16xlarge"}, {"RunsIn": "environment"}):
        found = outputs(**changed)
        assert image_of(found.read(ClusterOutputs), found) is None
