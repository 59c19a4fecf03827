"""`python -m training.images push`: put an image where jobs on AWS find it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from training.cli import Format, FormatOption
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
from training.images.destination import connect, read_registry
from training.images.publish import Image, bring
from training.images.show import show
from training.job_options import OutputsFileOption
from training.stop_signals import terminated_as_interrupted


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
    destination = read_registry(outputs_file).destination(algorithm)
    image = Image.of(algorithm, recipe, chosen, destination)
    origin = Origin(
        base_image=base_image,
        torch_index=torch_index,
        ca_bundle=ca_bundle,
        region=image.destination.region or DEFAULT_REGION,
        cache=cache,
    )
    with _told_how_it_was_stopped():
        outcome = bring(image, connect(image.destination).ecr, engine, origin)
    show(image, outcome, output)


@contextmanager
def _told_how_it_was_stopped() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does: the registry's token goes from the disk."""
    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            "the push was stopped. Layers that are up already are not sent again: run the same "
            "command to go on"
        ) from error
