"""What a command says of an image that is in its repository."""

from __future__ import annotations

from typing import Any

from training.cli import Format, log, print_json, result
from training.images.publish import Image, Outcome
from training.images.published import OF_DOCKER

_MIB = 1024**2


def show(image: Image, outcome: Outcome, output: Format) -> None:
    """Print the image's name by digest, and on stderr its layers and how to pin a job to it."""
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
