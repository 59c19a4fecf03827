"""Sign-in for builds: to private registries of AWS, and to no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.training.images.engines import PASSWORD, EcrClient, Engines
from training.aws.ecr import Ecr
from training.container_engine import Engine
from training.errors import AwsError
from training.images import registry_access
from training.images.destination import Destination, of_image
from training.images.registry_access import let_in

HOST = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
OWN_HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
CACHE = f"{OWN_HOST}/mask-rcnn/cache"
AMAZONS = f"{HOST}/tensorflow-training:1.15.2-gpu-py36-cu100-ubuntu18.04"


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    made = Engines(tmp_path / "bin")
    made.install("podman", "docker")
    return made


def engine(engines: Engines, name: str = "podman") -> Engine:
    return Engine(name, str(engines.folder / name))


def connect_to(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    monkeypatch.setattr(registry_access, "connect", lambda _registry: SimpleNamespace(ecr=client))


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (AMAZONS, Destination(HOST, "tensorflow-training")),
        (f"{HOST}/a/b@sha256:{'0' * 64}", Destination(HOST, "a/b")),
        ("127.0.0.1:5000/a", Destination("127.0.0.1:5000", "a")),
        ("127.0.0.1:5000/a:1", Destination("127.0.0.1:5000", "a")),
        ("debian:bookworm", None),
    ],
)
def test_an_images_name_is_taken_apart(image: str, expected: Destination | None) -> None:
    assert of_image(image) == expected


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_the_engine_is_signed_in_to_what_takes_it(
    name: str, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect_to(monkeypatch, Ecr(EcrClient(engines)))
    with let_in(engine(engines, name), [AMAZONS, CACHE], pytest.fail) as access:
        assert access is not None
        words = access.engine.argv("build", *access.authfile)
    folder = Path(words[words.index("--config" if name == "docker" else "--authfile") + 1])
    logins = engines.of("login")
    assert [login["words"][-1] for login in logins] == [HOST, OWN_HOST]
    assert [login["stdin"] for login in logins] == [PASSWORD, PASSWORD]
    assert all(str(folder) in login["words"] for login in logins)
    assert not folder.exists()


@pytest.mark.parametrize(
    "image", ["docker.io/library/debian:bookworm-slim", "localhost/mask-rcnn/base:1", AMAZONS]
)
def test_public_images_and_those_that_are_here_take_no_token(image: str, engines: Engines) -> None:
    engines.plan(images={AMAZONS: "x"})
    with let_in(engine(engines), [image], pytest.fail) as access:
        assert access is None
    assert engines.of("login") == []


def test_without_a_token_the_build_is_tried_all_the_same(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused:
        def token(self) -> None:
            raise AwsError("no credentials")

    connect_to(monkeypatch, Refused())
    said: list[str] = []
    with let_in(engine(engines), [AMAZONS], said.append) as access:
        assert access is None
    assert said == [f"{HOST}: no token for {AMAZONS}: no credentials"]


def test_docker_keeps_the_users_plugins(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plugins = tmp_path / "settings" / "cli-plugins"
    plugins.mkdir(parents=True)
    (plugins / "docker-buildx").touch()
    monkeypatch.setenv("DOCKER_CONFIG", str(plugins.parent))
    connect_to(monkeypatch, Ecr(EcrClient(engines)))
    with let_in(engine(engines, "docker"), [AMAZONS], pytest.fail) as access:
        assert access is not None
        own = Path(access.engine.options[access.engine.options.index("--config") + 1])
        assert (own / "cli-plugins" / "docker-buildx").exists()
    assert (plugins / "docker-buildx").exists()
