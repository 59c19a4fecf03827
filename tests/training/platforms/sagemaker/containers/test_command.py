"""The engine's commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.container_engine import Engine
from training.platforms.sagemaker.containers.command import (
    Setting,
    make_network,
    run_container,
    shares,
)
from training.platforms.sagemaker.containers.mounts import Mount

SETTING = Setting(
    engine=Engine("docker", "/usr/bin/docker"),
    mark="1-2-abcdef",
    image="registry/image:1",
    gpus=False,
    isolated=False,
    shared_memory_bytes=1024,
    arguments=("train",),
    entrypoint=None,
)
DATA = Mount(Path("/a b/$(c)"), "/opt/ml/input/data/train", writable=False)


def test_the_whole_command_of_a_host() -> None:
    assert run_container(SETTING, "algo-1", {"A": '"$(b)"\nc'}, [DATA], [0, 2]) == [
        *("/usr/bin/docker", "run", "--rm", "--pull", "never"),
        *("--name", "mask-rcnn-1-2-abcdef-algo-1", "--label", "mask-rcnn.run=1-2-abcdef"),
        *("--network", "mask-rcnn-1-2-abcdef", "--network-alias", "algo-1"),
        *("--hostname", "algo-1", "--log-driver", "none", "--cpuset-cpus", "0,2"),
        *("--shm-size", "1024", "--env", 'A="$(b)"\nc'),
        *("--volume", "/a b/$(c):/opt/ml/input/data/train:ro"),
        *("registry/image:1", "train"),
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [("docker", ["--gpus", "all"]), ("podman", ["--device", "nvidia.com/gpu=all"])],
)
def test_gpus_are_named_as_each_engine_names_them(name: str, words: list[str]) -> None:
    setting = replace(SETTING, engine=Engine(name, name), gpus=True)
    command = run_container(setting, "algo-1", {}, [], [0])
    assert command[command.index(words[0]) + 1] == words[1]


def test_another_entry_point_gets_its_own_arguments() -> None:
    setting = replace(SETTING, entrypoint="/bin/program", arguments=("a", "b"))
    command = run_container(setting, "algo-1", {}, [], [0])
    assert command[-5:] == ["--entrypoint", "/bin/program", "registry/image:1", "a", "b"]


@pytest.mark.parametrize(
    ("name", "user", "told"),
    [("podman", 0, True), ("podman", 1000, False), ("docker", 1000, True)],
)
def test_podman_without_root_cannot_keep_cores_apart(
    name: str, user: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    command = run_container(replace(SETTING, engine=Engine(name, name)), "algo-1", {}, [], [3])
    assert ("--cpuset-cpus" in command) is told


def test_an_isolated_job_has_a_network_that_leads_nowhere() -> None:
    labelled = ("--label", "mask-rcnn.run=1-2-abcdef", "mask-rcnn-1-2-abcdef")
    assert make_network(SETTING) == ("network", "create", *labelled)
    isolated = make_network(replace(SETTING, isolated=True))
    assert isolated == ("network", "create", "--internal", *labelled)


@given(cores=st.lists(st.integers(0, 200), min_size=1, unique=True), hosts=st.integers(1, 40))
def test_cores_are_shared_out_evenly_and_each_host_has_one(cores: list[int], hosts: int) -> None:
    parts = shares(cores, hosts)
    sizes = {len(part) for part in parts}
    assert len(parts) == hosts
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1
    if hosts <= len(cores):
        assert sorted(core for part in parts for core in part) == sorted(cores)
