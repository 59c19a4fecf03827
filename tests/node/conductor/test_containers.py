"""runs_in image: each host's part is a container, with what it needs and nothing of the user's."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from node.conductor import engine
from tests.docker.containers.lite_image import IMAGE, Podman
from tests.node.conductor import trainer
from tests.node.conductor.bench import WORKERS, Bench

SHIM = """#!/bin/sh
# Docker's command line, as podman has it.
command=$1
shift
[ "$command" = run ] && set -- {limits} "$@"
exec {engine} "$command" "$@"
"""


def place_docker(folder: Path, podman: Podman) -> None:
    program = folder / "docker"
    limits, argv = podman.engine.limits(), podman.engine.argv()
    program.write_text(SHIM.format(limits=shlex.join(limits), engine=shlex.join(argv)))
    program.chmod(0o755)


@pytest.mark.container
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_an_elastic_job_runs_in_containers_and_leaves_none(
    bench: Bench,
    podman: Podman,
    tmp_path: Path,
) -> None:
    trainer.install(bench)
    config = json.loads((bench.folder / "node.json").read_text())
    (bench.folder / "node.json").write_text(json.dumps({**config, "runs_in": "image"}))
    (tmp_path / "programs").mkdir()
    place_docker(tmp_path / "programs", podman)
    path = f"{tmp_path / 'programs'}:{bench.environment['PATH']}"
    bench.variables.update(podman.environ, PATH=path)
    bench.set_nodes(*WORKERS[:2])
    request = bench.request(
        distribution="elastic",
        image=IMAGE,
        hyperparameters=trainer.hyperparameters(images_per_epoch=12),
        environment={"OMP_NUM_THREADS": "1", "OF_USER": "$(touch /tmp/x)"},
        retries=0,
    )
    bench.ask("submit", request)
    bench.conduct()
    ended = bench.wait_for_end(400)
    assert ended["state"] == "completed", bench.output()[-3000:]
    assert ended["step"] == 6, "of two ranks"
    assert (bench.run / "report.html").exists()
    assert (bench.folder / "aws/s3/bucket/output/one/model.pt").stat().st_size > 100_000
    assert podman.names("ps", "--all", "--format", "{{.Names}}") == []


def test_a_container_gets_the_machine_and_names_of_variables_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "docker"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    monkeypatch.setattr(engine.Path, "exists", lambda path: str(path) == "/dev/nvidiactl")
    devices = [Path("/dev/infiniband/uverbs1"), Path("/dev/infiniband/uverbs0")]
    monkeypatch.setattr(engine.Path, "glob", lambda _path, _pattern: iter(devices))
    argv = engine.run_command(
        "mask-rcnn-one",
        "registry/image:1",
        ["train"],
        mark="one/1/10.0.0.2",
        variables=["KEY"],
        mounts=["/efs/log:/efs/log"],
    )
    assert argv == [
        *(str(program), "run", "--rm", "--name", "mask-rcnn-one"),
        *("--label", "mask-rcnn.job=one/1/10.0.0.2", "--network", "host"),
        *("--shm-size", str(half), "--ulimit", "memlock=-1:-1"),
        *("--ulimit", "stack=67108864:67108864", "--gpus", "all"),
        *("--device", "/dev/infiniband/uverbs0", "--device", "/dev/infiniband/uverbs1"),
        *("--env", "KEY", "--volume", "/efs/log:/efs/log", "registry/image:1", "train"),
    ]
