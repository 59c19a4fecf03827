"""A build in AWS, with clients that only record."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber

from tests.training.images.engines import DIGEST, MANIFEST
from training.aws.codebuild import CodeBuild
from training.aws.logs import Event, Page
from training.errors import JobFailed, UsageError
from training.images.build import Origin
from training.images.destination import Destination
from training.images.publish import Image
from training.images.recipes import RECIPES, Variant
from training.images.remote import build_remotely
from training.images.sources import PROJECT
from training.outputs import RegistryOutputs

URI = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/mask-rcnn/horovod"
REGISTRY = RegistryOutputs(
    horovod_repository_uri=URI,
    tensorpack_repository_uri=URI,
    aws_samples_repository_uri=URI,
    tf2_smddp_repository_uri=URI,
    builder_project="builder",
    builder_bucket="sources",
)
ID = "builder:1"


class Aws:
    """The clients; the image is there once the build has succeeded."""

    def __init__(self) -> None:
        self.archives: list[bytes] = []
        self.is_there = False
        client = botocore.session.get_session().create_client(
            "codebuild", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
        )
        self.stub = Stubber(client)
        self.stub.activate()
        self.codebuild = CodeBuild(client)
        self.ecr = SimpleNamespace(manifest=lambda _name, _tag: MANIFEST if self.is_there else None)
        self.s3 = SimpleNamespace(write=self._write)
        self.logs = SimpleNamespace(page=self._page)
        self.lines = ["Step 1", "Step 2: [bold]"]

    def expect(self, variables: dict[str, str], *states: dict[str, Any]) -> None:
        first, *others = states
        self.stub.add_response(
            "start_build",
            {"build": {"id": ID, **first}},
            {
                "projectName": "builder",
                "sourceVersion": "v1",
                "idempotencyToken": "v1",
                "environmentVariablesOverride": [
                    {"name": name, "value": value, "type": "PLAINTEXT"}
                    for name, value in variables.items()
                ],
            },
        )
        for state in others:
            self.stub.add_response(
                "batch_get_builds", {"builds": [{"id": ID, **state}]}, {"ids": [ID]}
            )

    def sleep(self, _: float) -> None:
        self.is_there = True

    def _write(self, bucket: str, key: str, content: bytes) -> str:
        assert (bucket, key) == ("sources", "sources.zip")
        self.archives.append(content)
        return "v1"

    def _page(self, group: str, stream: str, *, token: str | None, since_ms: int) -> Page:
        assert (group, stream, since_ms) == ("builds", "1", 0)
        if token is not None:
            return Page((), token)
        return Page(tuple(Event(0, f"{line}\n") for line in self.lines), "end")


RUNS: dict[str, Any] = {"buildStatus": "IN_PROGRESS", "currentPhase": "BUILD"}
DONE: dict[str, Any] = {
    "buildStatus": "SUCCEEDED",
    "currentPhase": "COMPLETED",
    "logs": {"groupName": "builds", "streamName": "1"},
}
NO_DOCKER_HUB = "public.ecr.aws/docker/library/debian:bookworm-slim"


def image(variant: Variant = "gpu") -> Image:
    host, _, name = URI.partition("/")
    return Image.of("horovod", RECIPES["horovod"].of(variant), variant, Destination(host, name))


def run(
    aws: Aws,
    origin: Origin = Origin(),  # noqa: B008
    tell: Callable[[str], None] = print,
    variant: Variant = "gpu",
) -> Any:
    return build_remotely(image(variant), REGISTRY, origin, aws, tell, sleep=aws.sleep)  # type: ignore[arg-type]


def test_a_build_is_told_what_and_follows_to_the_image_in_the_registry() -> None:
    aws, said = Aws(), []
    variables = {
        "ALGORITHM": "horovod",
        "VARIANT": "gpu",
        "BASE_IMAGE": NO_DOCKER_HUB,
        "TORCH_INDEX": "",
    }
    aws.expect(variables, RUNS, RUNS, DONE)
    published, was_built = run(aws, tell=said.append)
    aws.stub.assert_no_pending_responses()
    assert (published.digest, was_built) == (DIGEST, True)
    assert said == [f"building in AWS: {ID}", "Step 1", "Step 2: [bold]"]


def test_a_variant_on_another_base_is_built_as_a_variant_of_its_algorithm() -> None:
    aws = Aws()
    variables = {"ALGORITHM": "horovod", "VARIANT": "smddp", "BASE_IMAGE": "", "TORCH_INDEX": ""}
    aws.expect(variables, RUNS, DONE)
    assert run(aws, variant="smddp")[1]
    aws.stub.assert_no_pending_responses()


def test_the_archive_has_all_that_the_build_reads_and_the_same_bytes_each_time() -> None:
    aws = Aws()
    for _ in range(2):
        aws.is_there = False
        aws.stub.add_client_error("start_build")
        with pytest.raises(Exception, match="StartBuild"):
            run(aws)
    assert aws.archives[0] == aws.archives[1]
    with zipfile.ZipFile(io.BytesIO(aws.archives[0])) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("outputs.json")) == {
            REGISTRY.STACK: dict(REGISTRY.to_outputs())
        }
        assert (
            archive.read("docker/buildspec.yml") == (PROJECT / "docker/buildspec.yml").read_bytes()
        )
    for recipe in (recipe for each in RECIPES.values() for recipe in each.each()):
        for source in recipe.sources:
            assert any(name == source or name.startswith(f"{source}/") for name in names), source
    assert {"constraints.txt", "training/images/__main__.py"} <= names
    assert [name for name in names if "__pycache__" in name or name.startswith(".")] == []


def test_what_is_there_is_not_built() -> None:
    aws = Aws()
    aws.is_there = True
    published, was_built = run(aws)
    assert (published.digest, was_built, aws.archives) == (DIGEST, False, [])


def test_a_failed_build_is_told_with_phase_cause_and_last_lines() -> None:
    aws = Aws()
    failed = {
        **DONE,
        "buildStatus": "FAILED",
        "currentPhase": "BUILD",
        "phases": [
            {"phaseType": "INSTALL", "phaseStatus": "SUCCEEDED"},
            {"phaseType": "BUILD", "phaseStatus": "FAILED", "contexts": [{"message": "exit 1"}]},
        ],
    }
    variables = dict.fromkeys(("ALGORITHM", "VARIANT", "BASE_IMAGE", "TORCH_INDEX"), "")
    variables |= {"ALGORITHM": "horovod", "VARIANT": "gpu", "BASE_IMAGE": "mine:1"}
    aws.expect(variables, RUNS, failed)
    with pytest.raises(JobFailed) as caught:
        run(aws, Origin(base_image="mine:1"))
    assert str(caught.value).splitlines() == [
        f"{ID} ended FAILED in phase BUILD: exit 1",
        "Its last lines:",
        "  Step 1",
        "  Step 2: [bold]",
    ]


def test_a_build_that_ends_well_without_an_image_is_no_success() -> None:
    aws = Aws()
    variables = {
        "ALGORITHM": "horovod",
        "VARIANT": "gpu",
        "BASE_IMAGE": NO_DOCKER_HUB,
        "TORCH_INDEX": "",
    }
    aws.expect(variables, RUNS, DONE)
    with pytest.raises(JobFailed, match="ended well, but "):
        build_remotely(
            image(),
            REGISTRY,
            Origin(),
            aws,
            print,
            sleep=lambda _: None,  # type: ignore[arg-type]
        )


def test_no_builder_and_options_of_this_machine_are_refused_before_anything_is_sent() -> None:
    aws = Aws()
    without = replace(REGISTRY, builder_project=None)
    with pytest.raises(UsageError, match="registry_builder=create"):
        build_remotely(image(), without, Origin(), aws, print)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--cache: is for builds on this machine"):
        run(aws, Origin(cache="host/cache"))
    with pytest.raises(UsageError, match="x86-64 only, not --variant cpu-arm64"):
        build_remotely(
            replace(image(), variant="cpu-arm64"),
            REGISTRY,
            Origin(),
            aws,
            print,  # type: ignore[arg-type]
        )
    assert aws.archives == []
