"""Elastic jobs: the real entry point, horovodrun, SSH and trainer; and small ones for the rest."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from node.conductor.elastic_round import sockets_of
from tests.node.conductor import trainer
from tests.node.conductor.bench import HEAD, WORKERS, Bench

IMAGES = 1000


@pytest.mark.soak
@pytest.mark.timeout(280)
def test_hosts_come_and_go_and_the_training_goes_on(bench: Bench) -> None:
    """One of two hosts is lost, another joins, one is taken by AWS, and the job is stopped."""
    trainer.install(bench)
    first, second, third = WORKERS
    bench.set_nodes(first, second)
    request = bench.request(
        distribution="elastic",
        least_workers=1,
        hyperparameters=trainer.hyperparameters(images_per_epoch=IMAGES, checkpoint_period=1000),
        environment={**bench.request()["environment"], "OMP_NUM_THREADS": "1"},
    )
    bench.ask("submit", request)
    bench.conduct()
    bench.wait(lambda: trainer.size(bench, IMAGES) == 2, 90)
    bench.lose_host(first)
    bench.set_nodes(second)
    begin = time.monotonic()
    bench.wait(lambda: trainer.size(bench, IMAGES) == 1, 60)
    assert time.monotonic() - begin < 40
    bench.set_nodes(second, third)
    bench.wait(lambda: trainer.size(bench, IMAGES) == 2, 90)
    bench.set_nodes(second, left_out=((third, "is leaving: spot"),))
    bench.wait(lambda: trainer.size(bench, IMAGES) == 1, 60)
    assert bench.status()["restarts"] == 0, bench.output()
    begin = time.monotonic()
    bench.ask("stop", {"name": "one"})
    ended = bench.wait_for_end()
    assert time.monotonic() - begin < 30
    assert (ended["state"], ended["exit_code"]) == ("checkpointed", 75)
    taken = [step for step, _ in trainer.steps(bench)]
    assert taken == list(range(1, len(taken) + 1)), "each step once, over all changes"
    assert ended["step"] == taken[-1]
    job = json.loads((bench.run / "job.json").read_text())
    assert (job["platform"], job["job_name"], job["world_size"]) == ("ec2", "one", 2)
    assert (bench.run / "report.html").exists()
    assert "StrictHostKeyChecking" not in bench.output()
    assert not bench.processes("entrypoint")
    sockets = Path(sockets_of(bench.run, 1))
    assert [path.name for path in sockets.iterdir()] == [first], "of the host that was killed"
    shutil.rmtree(sockets)


# What the conductor does about hosts, with entry points that are small programs

SERVE = """
import json, os, time
told = json.loads((root / "input/config/elastic.json").read_text())
if "head_address" in told:
    if SERVES:
        key = "ssh-ed25519 " + "A" * 68
        say(json.dumps({"kind": "ready", "port": 4000, "user": "root", "host_key": key}))
    while not stops: time.sleep(0.05)
    sys.exit(0)
def listed():
    return [entry["host"] for entry in json.loads(open(told["hosts"]).read())["hosts"]]
say(f"head: {told['least_processes']} to {told['most_processes']} with {listed()}")
"""


def elastic(bench: Bench, program: str, **changes: Any) -> dict[str, Any]:
    return bench.request(
        distribution="elastic",
        hyperparameters={"program": SERVE.replace("SERVES", "True") + program},
        **{"least_workers": 1, **changes},
    )


def test_fewer_workers_start_an_elastic_job_once_the_wait_is_over(bench: Bench) -> None:
    bench.set_nodes(WORKERS[0])
    bench.ask("submit", elastic(bench, "", workers_wait_s=1))
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert "starts with 1 of 2 workers" in bench.output()
    assert "head: 1 to 2 with ['127.0.0.2']" in bench.output()


@pytest.mark.soak  # its short times bend where other work takes the cores
def test_a_host_that_is_not_seen_for_a_moment_stays(bench: Bench) -> None:
    bench.set_nodes(*WORKERS[:2])
    program = "while not (log / 'go').exists(): time.sleep(0.05)\nsay(f'in the end {listed()}')"
    bench.ask("submit", elastic(bench, program))
    bench.conduct()
    bench.wait_for_output("head: 1 to 2")
    bench.set_nodes(WORKERS[0])
    time.sleep(2)
    bench.set_nodes(*WORKERS[:2])
    time.sleep(1)
    (bench.run / "go").touch()
    assert bench.wait_for_end()["state"] == "completed"
    assert "in the end ['127.0.0.2', '127.0.0.3']" in bench.output()


@pytest.mark.soak  # its short times bend where other work takes the cores
def test_too_few_hosts_for_too_long_end_the_job_with_the_reason(bench: Bench) -> None:
    bench.set_nodes(*WORKERS[:2])
    program = "while not stops: time.sleep(0.05)\nfail('stopped')"
    bench.ask("submit", elastic(bench, program, least_workers=2, workers_wait_s=2))
    bench.conduct()
    bench.wait_for_output("head: 2 to 2")
    bench.lose_host(WORKERS[1])
    bench.set_nodes(WORKERS[0])
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("failed", 1)
    assert ended["reason"] == ("1 of at least 2 processes were left for 2 s: no replacement came")


def test_a_host_that_cannot_be_prepared_is_told_by_name(bench: Bench) -> None:
    bench.set_nodes(*WORKERS[:2])
    data = {"s3": "s3://bucket/nothing", "path": str(bench.folder / "scratch")}
    bench.ask("submit", elastic(bench, "", data=data, retries=0))
    bench.conduct()
    ended = bench.wait_for_end()
    assert ended["state"] == "failed"
    asked = "host 127.0.0.2: s3://bucket/nothing/manifest.json: aws s3 cp: "
    assert ended["reason"].startswith(asked)
    assert "Is the data staged?" in ended["reason"]


def test_a_head_that_takes_part_is_in_the_list(bench: Bench) -> None:
    bench.set_nodes(WORKERS[0])
    path = bench.folder / "nodes.json"
    nodes = json.loads(path.read_text())
    nodes["hosts"][0]["slots"] = 1
    path.write_text(json.dumps(nodes))
    bench.ask("submit", elastic(bench, "", workers=1, processes_per_host=3))
    bench.conduct()
    ended = bench.wait_for_end()
    assert f"head: 3 to 6 with ['{HEAD}', '127.0.0.2']" in bench.output()
    assert [host["slots"] for host in ended["hosts"]] == [3, 3]
