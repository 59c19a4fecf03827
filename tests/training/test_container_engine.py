"""What is asked of a container engine, and how."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from training import container_engine
from training.container_engine import Engine, find_engine


def put(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_docker_without_its_daemon_is_no_engine(programs: Path) -> None:
    put(programs, "docker", 'case "$*" in *Server*) exit 1;; esac')
    put(programs, "podman", "")
    assert find_engine(None, ("docker", "podman")).name == "podman"


@pytest.mark.parametrize(
    ("is_hybrid", "has_runc", "options"),
    [
        (True, True, ("--runtime", "runc")),
        (True, False, ()),
        (False, True, ()),
    ],
)
def test_podman_takes_runc_where_crun_would_refuse(  # noqa: PLR0917
    is_hybrid: bool,
    has_runc: bool,
    options: tuple[str, ...],
    programs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hybrid = tmp_path / "cgroup.controllers"
    if is_hybrid:
        hybrid.touch()
    monkeypatch.setattr(container_engine, "_HYBRID", hybrid)
    put(programs, "podman", "")
    if has_runc:
        put(programs, "runc", "")
    assert find_engine(None, ("podman",)).argv("run")[1:] == [*options, "run"]


def test_limits_stay_within_this_processs_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pid_max").write_text("32768\n")
    monkeypatch.setattr(container_engine, "_PID_MAX", tmp_path / "pid_max")
    limits = {resource.RLIMIT_NOFILE: 20_000, resource.RLIMIT_NPROC: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, limits[kind]))
    assert Engine("podman", "podman").limits() == (
        *("--ulimit", "nofile=20000:20000"),
        *("--ulimit", "nproc=32768:32768"),
    )
    assert Engine("docker", "docker").limits() == ()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("podman", '{"store": {"graphRoot": "/layers"}}'),
        ("buildah", '{"store": {"GraphRoot": "/layers"}}'),
        ("docker", "/layers"),
    ],
)
def test_where_layers_are(name: str, answer: str, programs: Path) -> None:
    put(programs, name, f"echo '{answer}'")
    assert Engine(name, str(programs / name)).storage() == Path("/layers")


def test_credentials_of_aws_are_kept_from_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    given = container_engine.environment()
    assert given["HTTPS_PROXY"] == "http://proxy"
    assert not [name for name in given if name.startswith("AWS_")]
