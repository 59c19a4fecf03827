"""`mask-rcnn-node health` and `replace`, with real nodes behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from node.conductor.places import RunFolder
from node.config import NodeConfig, load
from node.errors import NodeError, UsageError
from node.health import answer as health
from node.health.busy import Busy, of_run
from node.health.survey import Host
from tests.node.health.conftest import Nodes

JOB = Busy("job-1", "running", is_elastic=False, has_checkpoint=True)


def config(folder: Path, mount: Path | str, *, role: str = "head") -> NodeConfig:
    """Return a node's configuration, read from the file as user data writes it."""
    file = folder / "node.json"
    file.write_text(
        json.dumps(
            {
                "cluster": "mine",
                "role": role,
                "region": "us-east-1",
                "stack": "ClusterStack",
                "resource": None,
                "head_group": "heads",
                "worker_group": "workers",
                "efs": {"id": "fs-1", "mount": str(mount), "dns": "fs-1.efs"},
                "fsx": None,
                "key_secret_arn": "arn",
                "log_group": "group",
                "runs_in": "image",
                "elastic_ip_allocation": None,
                "setup_minutes": 30,
            }
        )
    )
    return load(file)


@pytest.fixture
def cluster(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nodes:
    """Let the nodes of the test be those that are found; no job runs."""
    own = config(tmp_path, nodes.efs)
    monkeypatch.setattr(health, "load", lambda: own)
    monkeypatch.setattr(health, "find_hosts", lambda _: nodes.hosts)
    monkeypatch.setattr(health, "Ssh", lambda: nodes.ssh)
    monkeypatch.setattr(health, "busy", lambda _: None)
    return nodes


@pytest.mark.root
def test_all_nodes_are_told_with_what_they_lack(cluster: Nodes) -> None:
    reply = health.answer({"timeout_s": 60, "gpus": {"worker": 8}})
    assert reply["busy"] is None
    assert [host["instance_id"] for host in reply["hosts"]] == ["i-head", "i-one", "i-two"]
    status = [
        {check["name"]: check["status"] for check in host["checks"]} for host in reply["hosts"]
    ]
    assert [each["ssh"] for each in status] == ["ok"] * 3
    assert [each.get("gpus") for each in status] == [None, "failed", "failed"]
    # The cluster's folder is not on the nodes' EFS, which is empty.
    assert [each["efs"] for each in status] == ["failed"] * 3
    assert reply["all_reduce"] == {
        "status": "skipped",
        "message": "no image with torch was named for it",
    }


@pytest.mark.root
def test_no_all_reduce_beside_a_job(cluster: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "busy", lambda _: JOB)
    reply = health.answer({"timeout_s": 60})
    assert reply["all_reduce"]["message"] == "job job-1 runs, and both would be slow"
    assert reply["busy"] == {
        "name": "job-1",
        "state": "running",
        "is_elastic": False,
        "has_checkpoint": True,
    }
    assert health.answer({"timeout_s": 60, "all_reduce": False})["all_reduce"] is None


def test_a_worker_does_not_answer_for_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = config(tmp_path, "/efs", role="worker")
    monkeypatch.setattr(health, "load", lambda: own)
    with pytest.raises(NodeError, match="asked on its head, and this is a worker"):
        health.answer({})


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster with one worker, which is dead."""
    own = config(tmp_path, "/efs")
    monkeypatch.setattr(health, "load", lambda: own)
    hosts = [Host("i-head", "head", None), Host("i-one", "worker", None, left_out="is silent")]
    monkeypatch.setattr(health, "find_hosts", lambda _: hosts)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("job", "said"),
    [
        (None, None),
        (JOB, "job job-1 starts again from its last checkpoint"),
        (Busy("a", "waiting", False, False), "job a waits for the new node"),
        (
            Busy("b", "running", True, False),
            "job b goes on without the node, and takes the new one in",
        ),
    ],
)
def test_a_node_is_replaced_where_no_work_is_lost(
    monkeypatch: pytest.MonkeyPatch, job: Busy | None, said: str | None
) -> None:
    monkeypatch.setattr(health, "busy", lambda _: job)
    reply = health.replace({"instance_id": "i-one"})
    assert reply == {"instance_id": "i-one", "told": False, "job": said}


@pytest.mark.root
def test_a_worker_is_told_that_it_leaves(cluster: Nodes) -> None:
    reply = health.replace({"instance_id": "i-one"})
    assert reply == {"instance_id": "i-one", "told": True, "job": None}


@pytest.mark.usefixtures("small")
def test_an_elastic_job_without_checkpoint_keeps_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on without a worker, not without its head."""
    monkeypatch.setattr(health, "busy", lambda _: Busy("b", "running", True, False))
    with pytest.raises(NodeError, match="has no checkpoint yet: without i-head it would begin"):
        health.replace({"instance_id": "i-head"})
    monkeypatch.setattr(health, "busy", lambda _: Busy("b", "running", True, True))
    assert health.replace({"instance_id": "i-head"}) == {
        "instance_id": "i-head",
        "told": False,
        "job": "job b starts again from its last checkpoint",
    }


@pytest.mark.usefixtures("small")
def test_a_job_without_checkpoint_keeps_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "busy", lambda _: Busy("job-1", "running", False, False))
    with pytest.raises(NodeError, match="job job-1 runs and has no checkpoint yet: without i-one"):
        health.replace({"instance_id": "i-one"})


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("request_", [{}, {"instance_id": "i-two"}, {"instance_id": ["i-one"]}])
def test_another_clusters_node_is_not_replaced(request_: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is no node of it"):
        health.replace(request_)


@pytest.mark.parametrize(
    ("request_", "file", "survives"),
    [
        ('{"distribution": "elastic"}', None, True),
        ('{"distribution": "mpi"}', "step-00000010.pt", True),
        ('{"distribution": "mpi"}', "attempt-1/model-10.index", True),
        ('{"distribution": "mpi"}', "attempt-1/graph.meta", False),
        ('{"distribution": "mpi"}', ".step-00000010.pt.unfinished", False),
        ('{"distribution": "mpi"}', None, False),
        ("half of a fi", None, False),
    ],
)
def test_what_a_run_has_left_decides(
    tmp_path: Path, request_: str, file: str | None, *, survives: bool
) -> None:
    (tmp_path / "conductor").mkdir()
    (tmp_path / "conductor" / "request.json").write_text(request_)
    if file:
        path = tmp_path / "checkpoints" / file
        path.parent.mkdir(parents=True)
        path.touch()
    assert of_run("job-1", "running", RunFolder(tmp_path)).survives("worker") is survives
