"""Has an image built in AWS, by the project of RegistryStack, and follows it to its end."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training import stop_signals
from training.aws import codebuild
from training.aws.codebuild import Build
from training.cli import Format, log
from training.errors import Interrupted, JobFailed, UsageError
from training.images.base_images import DEBIAN, DEBIAN_AT_AMAZON
from training.images.build import Origin
from training.images.destination import connect, read_registry
from training.images.publish import Image, Outcome
from training.images.published import Published, find
from training.images.recipes import RECIPES, Variant, split_variant
from training.images.show import show
from training.images.sources import PROJECT, find_sources
from training.outputs import BUILD_SOURCES_KEY, RegistryOutputs

if TYPE_CHECKING:
    from training.aws.clients import Clients

SENT = (
    "constraints.txt",
    "docker",
    "requirements-train.txt",
    "toolchain",
    "training",
)
"""What the archive holds: the sources of every image, and the commands that build and push one."""

_TIME = (1980, 1, 1, 0, 0, 0)
"""Of all files in it: the same sources are the same archive. The first that a zip can tell."""

_POLL_S = 5.0
_LAST_LINES = 10


@dataclass(frozen=True, kw_only=True)
class Builder:
    """Where images are built."""

    project: str
    bucket: str

    @classmethod
    def of(cls, registry: RegistryOutputs) -> Builder:
        """Raises:
        UsageError: The stack was deployed without it.
        """
        if registry.builder_project is None or registry.builder_bucket is None:
            raise UsageError(
                f"--remote: {registry.STACK} was deployed with registry_builder = none, or by "
                f"another version. Deploy it: cdk deploy {registry.STACK} -c "
                "registry_builder=create; or build here, with podman, docker or buildah"
            )
        return cls(project=registry.builder_project, bucket=registry.builder_bucket)


def build_and_show(
    algorithm: str, variant: Variant, origin: Origin, outputs_file: Path | None, output: Format
) -> None:
    """Do what `build --remote` does; see `build_remotely`."""
    registry = read_registry(outputs_file)
    destination = registry.destination(algorithm)
    image = Image.of(algorithm, RECIPES[algorithm].of(variant), variant, destination)
    published, built = build_remotely(
        image,
        registry.outputs,
        origin,
        connect(destination),
        _tell,
    )
    show(image, Outcome(published=published, pushed=built, built=built, is_same=None), output)


def _tell(line: str) -> None:
    log.print(line, markup=False)


def build_remotely(
    image: Image,
    registry: RegistryOutputs,
    origin: Origin,
    clients: Clients,
    tell: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Published, bool]:
    """Return the image in its repository, and whether it was built for that.

    Args:
        image: What is wanted.
        registry: Where it goes, and what builds it.
        origin: What is not in the sources.
        clients: Of the repository's region.
        tell: Takes lines for the user: the build's own log.
        sleep: Waits, for seconds.

    Raises:
        UsageError: There is no builder, or an option is for builds here alone.
        JobFailed: The build failed.
        Interrupted: The user stopped it, and the build with it.
        AwsError: AWS refused or could not be reached.
    """
    builder = Builder.of(registry)
    if origin.cache is not None:
        raise UsageError("--cache: is for builds on this machine; leave it out with --remote")
    if split_variant(image.variant)[1] is not None:
        raise UsageError(f"--remote: builds for x86-64 only, not --variant {image.variant}")
    there = find(clients.ecr, image.destination, image.tag)
    if there is not None:
        tell(f"{image.destination.tagged(image.tag)}: there already, nothing to build")
        return there, False
    version = clients.s3.write(builder.bucket, BUILD_SOURCES_KEY, _archive(registry))
    # From before the request: a build that was just started must not go on, and cost, unseen.
    with stop_signals.collected() as asked:
        build = clients.codebuild.start(
            builder.project,
            source_version=version,
            variables=_variables(image, origin),
        )
        tell(f"building in AWS: {build.id}")
        _Follower(clients, build, tell, sleep, asked).follow()
    published = find(clients.ecr, image.destination, image.tag)
    if published is None:
        raise JobFailed(
            f"{build.id} ended well, but {image.destination.tagged(image.tag)} is not there. Did "
            "the sources change while they were sent? Run the command again"
        )
    return published, True


def _variables(image: Image, origin: Origin) -> dict[str, str]:
    """Return what the build is told: the rest is in its sources (`docker/buildspec.yml`)."""
    base = origin.base_image
    if base is None and image.recipe.base == DEBIAN:
        base = DEBIAN_AT_AMAZON.name
    return {
        "ALGORITHM": image.algorithm,
        "VARIANT": image.variant,
        "BASE_IMAGE": base or "",
        "TORCH_INDEX": origin.torch_index or "",
    }


def _archive(registry: RegistryOutputs, *, project: Path = PROJECT) -> bytes:
    """Return a zip of the sources, and of what RegistryStack tells."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _contents(registry, project):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _contents(registry: RegistryOutputs, project: Path) -> Iterator[tuple[str, bytes]]:
    outputs: Mapping[str, Mapping[str, str]] = {registry.STACK: registry.to_outputs()}
    yield "outputs.json", json.dumps(outputs).encode()
    for name, file in find_sources(project, SENT).items():
        yield name, file.read_bytes()


class _Follower:
    """Follows one build to its end, with its log; a signal that was asked with stops it."""

    def __init__(
        self,
        clients: Clients,
        build: Build,
        tell: Callable[[str], None],
        sleep: Callable[[float], None],
        asked: Sequence[int],
    ) -> None:
        self._clients = clients
        self._build = build
        self._tell = tell
        self._sleep = sleep
        self._asked = asked
        self._token: str | None = None
        self._last: list[str] = []

    def follow(self) -> None:
        while self._build.status == codebuild.IN_PROGRESS:
            if self._asked:
                self._stop()
            self._sleep(_POLL_S)
            self._build = self._clients.codebuild.build(self._build.id)
            self._show_lines()
        if self._build.status != codebuild.SUCCEEDED:
            raise JobFailed("\n".join(self._reasons()))

    def _stop(self) -> None:
        self._clients.codebuild.stop(self._build.id)
        raise Interrupted(f"{self._build.id} was stopped; the same command builds anew")

    def _show_lines(self) -> None:
        """Show what the build has written since the last look."""
        group, stream = self._build.log_group, self._build.log_stream
        if group is None or stream is None:
            return
        while True:
            page = self._clients.logs.page(group, stream, token=self._token, since_ms=0)
            for event in page.events:
                self._tell(line := event.text.rstrip("\n"))
                self._last = [*self._last, line][-_LAST_LINES:]
            if page.token == self._token:
                return
            self._token = page.token

    def _reasons(self) -> Iterator[str]:
        build = self._build
        problem = f": {build.problem}" if build.problem else ""
        yield f"{build.id} ended {build.status} in phase {build.phase}{problem}"
        if self._last:
            yield "Its last lines:"
            yield from (f"  {line}" for line in self._last)
