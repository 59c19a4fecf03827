"""Which image of this machine a job runs."""

from __future__ import annotations

from training.container_engine import Engine
from training.errors import PreflightError
from training.images.recipes import RECIPES
from training.images.tag import image_tag, local_name


def find_image(engine: Engine, wanted: str, algorithm: str, *, gpus: bool) -> str:
    """Return the image, by a name that the engine knows.

    That is the one that the job names, or what `python -m training.images build` has made here
    from the same sources: the GPU variant where there are GPUs, the CPU variant elsewhere.

    Args:
        wanted: TrainingImage of the request.
        algorithm: The job's.
        gpus: Whether this machine has GPUs.

    Raises:
        PreflightError: There is none.
    """
    names = [wanted]
    if wanted.endswith(f":{image_tag(algorithm)}"):
        variants = sorted(RECIPES[algorithm].variants, reverse=gpus)  # cpu before gpu
        names += [local_name(algorithm, variant=variant) for variant in variants]
    for name in names:
        if engine.has_image(name):
            return name
    variant = "gpu" if gpus or "cpu" not in RECIPES[algorithm].variants else "cpu"
    raise PreflightError(
        f"{engine.name} has no image {' nor '.join(names)}. Build it: python -m training.images "
        f"build --algorithm {algorithm} --variant {variant}; or name one with `image`"
    )
