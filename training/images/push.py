"""`python -m training.images push`: put an image where jobs on AWS find it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import Interrupted
from training.images.base_images import DEFAULT_REGION
from training.images.build import (
    AlgorithmOption,
    BaseImageOption,
    CaBundleOption,
    CacheOption,
    EngineOption,
    Origin,
    TorchIndexOption,
    VariantOption,
    choose,
)
from training.images.destination import connect, read_destinations
from training.images.publish import Image, Outcome, bring
from training.images.published import OF_DOCKER
from training.images.tag import image_tag, local_name
from training.job_options import OutputsFileOption

_MIB = 1024**2


def push(  # noqa: PLR0917  Typer reads the options from the signature
    algorithm: AlgorithmOption = "horovod",
    variant: VariantOption = "gpu",
    outputs_file: OutputsFileOption = None,
    engine: EngineOption = None,
    base_image: BaseImageOption = None,
    torch_index: TorchIndexOption = None,
    ca_bundle: CaBundleOption = None,
    cache: CacheOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """Push an image to RegistryStack's repository.

    It is built before, if need be. The result is its name by digest, which a job spec takes as
    `image`. Nothing is built or pushed where the repository has an image of these sources already.
    """
    recipe, chosen = choose(algorithm, variant)
    image = Image(
        recipe=recipe,
        variant=chosen,
        name=local_name(algorithm, variant=chosen),
        tag=image_tag(algorithm, variant=chosen),
        destination=read_destinations(outputs_file)[algorithm],
    )
    origin = Origin(
        base_image=base_image,
        torch_index=torch_index,
        ca_bundle=ca_bundle,
        region=image.destination.region or DEFAULT_REGION,
        cache=cache,
    )
    with _told_how_it_was_stopped():
        outcome = bring(image, connect(image.destination), engine, origin)
    _show(image, outcome, output)


def _show(image: Image, outcome: Outcome, output: Format) -> None:
    published = outcome.published
    pinned = image.destination.pinned(published.digest)
    for layer in published.layers:
        log.print(f"{layer.digest}  {layer.size_bytes / _MIB:10,.1f} MiB")
    if published.layers:
        count, size = len(published.layers), published.size_bytes / _MIB
        log.print(f"{count} layers, {size:,.1f} MiB compressed")
    if published.media_type != OF_DOCKER:
        log.print(
            f"warning: its manifest is {published.media_type}; SageMaker is only known to take "
            f"{OF_DOCKER}, which podman and buildah push"
        )
    log.print(f"To pin it, write into the job spec:\nimage: {pinned}")
    if output is Format.JSON:
        print_json(_document(image, outcome, pinned))
    else:
        result.print(pinned)


def _document(image: Image, outcome: Outcome, pinned: str) -> dict[str, Any]:
    published = outcome.published
    return {
        "image": pinned,
        "repository": image.destination.uri,
        "tag": image.tag,
        "digest": published.digest,
        "media_type": published.media_type,
        "size_bytes": published.size_bytes,
        "layers": [
            {"digest": layer.digest, "size_bytes": layer.size_bytes} for layer in published.layers
        ],
        "built": outcome.built,
        "pushed": outcome.pushed,
        "is_local_image": outcome.is_same,
    }


@contextmanager
def _told_how_it_was_stopped() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does: the registry's token goes from the disk."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            "the push was stopped. Layers that are up already are not sent again: run the same "
            "command to go on"
        ) from error
    finally:
        signal.signal(signal.SIGTERM, before)
