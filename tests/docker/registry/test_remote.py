"""`build --remote` against a CodeBuild that really runs: the archive, its commands, the push."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localaws.container_registry import VARIABLE
from tests.conftest import ROOT, LocalAws, running_local_aws
from tests.docker.containers.lite_image import IMAGE, Podman
from tests.docker.registry.conftest import REPOSITORY
from tests.docker.registry.docker_registry import PROGRAM, DockerRegistry
from training.images.tag import image_tag, local_name
from training.outputs import BUILD_SOURCES_KEY

pytestmark = [pytest.mark.container, pytest.mark.slow]

BUCKET, PROJECT = "sources-of-builds", "builder"


@dataclass(frozen=True)
class Place:
    """A machine without an engine, and AWS with one."""

    aws: LocalAws
    outputs: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "training.images", "build", "--remote", *arguments),
                *("--outputs-file", str(self.outputs), "--format", "json"),
            ],
            cwd=ROOT,
            env={**self.aws.process_env(), "PATH": "/nowhere"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def build(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=200)
        return process.returncode, stdout, stderr

    def builds(self) -> list[Any]:
        client = self.aws.client("codebuild")
        ids = client.list_builds_for_project(projectName=PROJECT)["ids"]
        return list(client.batch_get_builds(ids=ids)["builds"]) if ids else []


@pytest.fixture(scope="module")
def place(podman_of_session: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if PROGRAM is None:
        pytest.skip("a push takes a registry: apt-get install docker-registry")
    root = tmp_path_factory.mktemp("remote")
    registry = DockerRegistry(root / "registry")
    (root / "registries.conf").write_text(
        f'[[registry]]\nlocation = "{registry.host}"\ninsecure = true\n'
    )
    registry.start()
    podman = podman_of_session
    # It is built already, so that the build has but to push it: what a build does is tested where
    # images are built.
    podman.call("tag", IMAGE, local_name("horovod", variant="cpu"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, registry.host)
        patch.setenv("CONTAINERS_REGISTRIES_CONF", str(root / "registries.conf"))
        for name, value in podman.environ.items():
            patch.setenv(name, value)
        with running_local_aws(root / "aws") as aws:
            yield Place(aws, _deploy(aws, root))
        registry.stop()


def _deploy(aws: LocalAws, root: Path) -> Path:
    """Make what RegistryStack makes, and return the file of its outputs."""
    made = aws.client("ecr").create_repository(
        repositoryName=REPOSITORY, imageTagMutability="IMMUTABLE"
    )
    s3 = aws.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    aws.client("logs").create_log_group(logGroupName="builds")
    aws.client("codebuild").create_project(
        name=PROJECT,
        source={
            "type": "S3",
            "location": f"{BUCKET}/{BUILD_SOURCES_KEY}",
            "buildspec": "docker/buildspec.yml",
        },
        artifacts={"type": "NO_ARTIFACTS"},
        environment={
            "type": "LINUX_CONTAINER",
            "image": "aws/codebuild/standard:7.0",
            "computeType": "BUILD_GENERAL1_LARGE",
        },
        logsConfig={"cloudWatchLogs": {"status": "ENABLED", "groupName": "builds"}},
        serviceRole="arn:aws:iam::123456789012:role/builder",
    )
    keys = ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
    outputs = {
        **{f"{key}RepositoryUri": made["repository"]["repositoryUri"] for key in keys},
        "BuilderProject": PROJECT,
        "BuilderBucket": BUCKET,
    }
    file = root / "outputs.json"
    file.write_text(json.dumps({"RegistryStack": outputs}))
    return file


def test_an_image_is_pushed_from_the_archive_and_named_by_its_digest(place: Place) -> None:
    code, printed, said = place.build("--variant", "cpu")
    assert code == 0, said
    (listed,) = place.aws.client("ecr").describe_images(repositoryName=REPOSITORY)["imageDetails"]
    assert listed["imageTags"] == [image_tag("horovod", variant="cpu")]
    document = json.loads(printed)
    assert document["image"].endswith(f"@{listed['imageDigest']}")
    assert (document["built"], document["pushed"]) == (True, True)
    assert "pushing localhost/mask-rcnn/horovod" in said, "the build's own log is shown"
    assert "auth-token" not in said

    code, printed, said = place.build("--variant", "cpu")
    assert code == 0, said
    assert json.loads(printed)["built"] is False
    assert len(place.builds()) == 1, "what is there is not built again"


def test_a_build_that_fails_is_told_with_its_last_lines(place: Place) -> None:
    code, printed, said = place.build("--algorithm", "tf2-smddp", "--base-image", "no/such:image")
    assert (code, printed) == (1, "")
    assert "ended FAILED in phase BUILD" in said
    assert "Its last lines:" in said
    last = said.partition("Its last lines:")[2]
    # Where the disk is too small for a build, that is what it fails of.
    assert "no/such:image" in last or "GiB needed to build the image" in last


def test_ctrl_c_stops_the_build_too(place: Place) -> None:
    # A registry that takes the connection and never answers: the build lasts until it is stopped.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = f"127.0.0.1:{silent.getsockname()[1]}/slow:1"
        with place.start("--algorithm", "tensorpack", "--base-image", base) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if "building in AWS" in line:
                    break
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
        assert process.returncode == 130, rest
        assert "was stopped; the same command builds anew" in rest
        deadline = time.monotonic() + 60
        while (build := place.builds()[-1])["buildStatus"] == "IN_PROGRESS":
            assert time.monotonic() < deadline
            time.sleep(0.5)
    assert build["buildStatus"] == "STOPPED"
