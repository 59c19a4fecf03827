"""Lets a build pull from, and keep its cache in, private registries of AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from training.aws.ecr import Token
from training.container_engine import Engine
from training.errors import AwsError
from training.images.destination import Destination, connect, of_image
from training.images.sign_in import Access, own_sign_ins


@contextmanager
def let_in(
    engine: Engine, images: Sequence[str], tell: Callable[[str], None]
) -> Iterator[Access | None]:
    """Yield access for an engine that is signed in to what takes it; None where nothing does.

    Where AWS gives no token, the build is tried all the same: the engine may be signed in by other
    means, and says itself if it is not.

    Args:
        engine: What builds.
        images: The base image and the repository of the cache, as far as there are any.
        tell: Takes a line for the user.

    Raises:
        AwsError: A registry cannot be reached, or does not take its token.
    """
    tokens = dict(_tokens(engine, images, tell))
    if not tokens:
        yield None
        return
    with own_sign_ins(engine, [registry.host for registry in tokens]) as access:
        for registry, token in tokens.items():
            access.sign_in(registry, token)
        yield access


def _tokens(
    engine: Engine, images: Sequence[str], tell: Callable[[str], None]
) -> Iterator[tuple[Destination, Token]]:
    for image in images:
        registry = of_image(image)
        if registry is None or registry.region is None or engine.has_image(image):
            continue
        try:
            yield registry, connect(registry).ecr.token()
        except AwsError as error:
            tell(f"{registry.host}: no token for {image}: {error}")
