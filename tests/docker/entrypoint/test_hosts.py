"""Several hosts with real sshd and mpirun; the ranks are small programs."""

from __future__ import annotations

import json
import os

import pytest

from tests.docker.entrypoint.conftest import MakeCluster
from tests.docker.entrypoint.following import TWO_EACH, codes, failures
from tests.docker.entrypoint.old_python import old_pythons
from tests.docker.entrypoint.ranks import adapter

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]


def test_ranks_of_all_hosts_run_and_leave_logs_a_model_and_exit_code_0(
    make_cluster: MakeCluster,
) -> None:
    program = """
sys.stdout.buffer.write(b"x" * 200_000 + bytes([255, 254]) + b"\\n")
print("AWS" in "".join(os.environ), os.environ["NCCL_SOCKET_IFNAME"], os.environ["HOSTS"])
print("no line end", end="")
"""
    cluster = make_cluster(3, adapter(program))
    hosts = cluster.start_all({"a": "b"}, **TWO_EACH)
    assert codes(hosts) == [0, 0, 0]
    assert [host.failure for host in hosts] == [None, None, None]
    assert (hosts[0].ml / "model" / "model.bin").read_text() == "weights"
    for rank in range(6):
        lines = (cluster.log / f"rank-{rank}.log").read_bytes().split(b"\n")
        assert lines[0] == f"rank {rank} runs on algo-{rank // 2 + 1}".encode()
        assert lines[1] == b"x" * 200_000 + bytes([255, 254])
        assert lines[2:] == [b"False eth0 algo-1,algo-2,algo-3", b"no line end"]
    shown = hosts[0].printed.read_bytes().split(b"\n")
    assert b"rank 0 runs on algo-1" in shown
    assert b"[rank 5] " + b"x" * 200_000 + bytes([255, 254]) in shown
    assert b"[rank 3] no line end" in shown
    kept = {path.name for path in (hosts[0].ml / "output" / "data").iterdir()}
    assert kept == {
        *("job.json", "hyperparameters.json", "launcher.log", "outcome.json"),
        *(f"rank-{rank}.log" for rank in range(6)),
    }
    assert json.loads((cluster.log / "job.json").read_text())["world_size"] == 6
    # This trainer says nothing of its end itself.
    outcome = json.loads((cluster.log / "outcome.json").read_text())
    assert outcome == {"status": "completed", "message": "completed"}


def test_hyperparameters_and_variables_arrive_unchanged_and_run_nothing(
    make_cluster: MakeCluster,
) -> None:
    program = (
        "print(json.dumps({name: value for name, value in os.environ.items() if 'V_' in name}))"
    )
    cluster = make_cluster(2, adapter(f"import json\n{program}"))
    trap = cluster.folder / "trap"
    hostile = {
        "command": f"$(touch {trap})",
        "backticks": f"`touch {trap}`",
        "quotes": f"'\"; touch {trap}; #",
        "newline": f"one\ntouch {trap}\n",
        "unicode": "Größe 図 🦊 \u2028",
        "long": "$(x)'\" " * 125,
        "-oProxyCommand=x": "--mca",
        "config:A.B": "[('a', None)]",
    }
    variables = {f"V_{number}": value for number, value in enumerate(hostile.values())}
    quoted = {name: json.dumps(value) for name, value in hostile.items()}
    hosts = cluster.start_all(quoted, **variables)
    assert codes(hosts) == [0, 0]
    arrived = json.loads((cluster.log / "hyperparameters.json").read_text(encoding="utf-8"))
    assert arrived == hostile
    for rank in (0, 1):
        lines = (cluster.log / f"rank-{rank}.log").read_text().splitlines()
        assert json.loads(lines[1]) == variables
    assert not trap.exists()


def test_one_host_needs_no_ssh(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(1, adapter(""))
    # Nor a name that anybody knows.
    host = cluster.start(
        "algo-1", {}, names={}, hostname="ip-10-0-0-9", MASK_RCNN_PROCESSES_PER_HOST="2"
    )
    assert host.wait(30) == 0
    assert "plm_rsh" not in host.stderr
    assert "rank 1 runs on ip-10-0-0-9" in (cluster.log / "rank-1.log").read_text()


def test_python_3_6_runs_a_job_over_two_hosts(make_cluster: MakeCluster) -> None:
    pythons = [python for python in old_pythons() if "3.6" in python]
    if not pythons:
        pytest.skip("no Python 3.6 here")
    cluster = make_cluster(2, adapter("print(sys.version_info[:2])\nsys.exit(3 * rank)"))
    cluster.python = pythons[0]
    hosts = cluster.start_all({})
    assert codes(hosts) == [1, 1]
    assert failures(hosts)[1].startswith("rank 1 on algo-2 ended with exit code 3\n")
    assert "(3, 6)" in failures(hosts)[0]


def test_machines_may_call_themselves_something_else(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, adapter(""))
    hosts = [cluster.start(host, {}, hostname=f"ip-{host}-x") for host in cluster.hosts]
    assert codes(hosts) == [0, 0]
    assert "rank 1 runs on ip-algo-2-x" in (cluster.log / "rank-1.log").read_text()
