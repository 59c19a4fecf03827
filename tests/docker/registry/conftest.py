"""A registry, a local AWS before it, and podman with an image to push."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from localaws.container_registry import VARIABLE
from tests.conftest import ROOT, LocalAws, running_local_aws
from tests.docker.containers.lite_image import IMAGE, Podman
from tests.docker.registry.docker_registry import PROGRAM, DockerRegistry
from training.container_engine import Engine
from training.images.tag import local_name

REPOSITORY = "mask-rcnn/horovod"


@dataclass(frozen=True)
class Bench:
    """What a push needs."""

    engine: Engine
    """podman, whose storage and settings are in `settings`."""
    settings: Mapping[str, str]
    registry: DockerRegistry
    aws: LocalAws
    root: Path

    @property
    def uri(self) -> str:
        return f"{self.registry.host}/{REPOSITORY}"

    def environ(self) -> dict[str, str]:
        return {
            **self.aws.process_env(),
            **self.settings,
            # podman talks without TLS only to those that its own settings name.
            "CONTAINERS_REGISTRIES_CONF": str(self.root / "registries.conf"),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
        }

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start a command of `python -m training.images`."""
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "training.images", command),
                *("--engine", "podman", "--format", "json"),
                *("--outputs-file", str(self.root / "outputs.json")),
            ],
            cwd=ROOT,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def images(self, command: str) -> subprocess.CompletedProcess[str]:
        process = self.start(command)
        stdout, stderr = process.communicate(timeout=120)
        return subprocess.CompletedProcess([command], process.returncode, stdout, stderr)


@pytest.fixture(scope="module")
def bench(podman_of_session: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    if PROGRAM is None:
        pytest.skip("a push takes a registry: apt-get install docker-registry")
    root = tmp_path_factory.mktemp("bench")
    registry = DockerRegistry(root / "registry")
    (root / "registries.conf").write_text(
        f'[[registry]]\nlocation = "{registry.host}"\ninsecure = true\n'
    )
    for name in ("home", "tmp"):
        (root / name).mkdir()
    podman = podman_of_session
    podman.call("tag", IMAGE, local_name("horovod"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, registry.host)
        with running_local_aws(root / "aws") as aws:
            made = aws.client("ecr").create_repository(
                repositoryName=REPOSITORY, imageTagMutability="IMMUTABLE"
            )
            outputs = dict.fromkeys(
                (
                    "HorovodRepositoryUri",
                    "TensorpackRepositoryUri",
                    "AwsSamplesRepositoryUri",
                    "Tf2SmddpRepositoryUri",
                ),
                made["repository"]["repositoryUri"],
            )
            (root / "outputs.json").write_text(json.dumps({"RegistryStack": outputs}))
            yield Bench(podman.engine, podman.environ, registry, aws, root)
            registry.stop()
