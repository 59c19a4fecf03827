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
    is_ours = wanted.endswith(f":{image_tag(algorithm)}")
    if is_ours:
        for_here = [each for each in RECIPES[algorithm].variants if each in {"cpu", "gpu"}]
        variants = sorted(for_here, reverse=gpus)  # cpu before gpu
        names += [local_name(algorithm, variant=variant) for variant in variants]
    for name in names:
        if engine.has_image(name):
            return name
    variant = "gpu" if gpus or "cpu" not in RECIPES[algorithm].variants else "cpu"
    build = f"python -m training.images build --algorithm {algorithm} --variant {variant}"
    # Without a registry, the job names the image as it was built here.
    has_none = f"{engine.name} has no image {' nor '.join(dict.fromkeys(names))}"
    if is_ours:
        raise PreflightError(f"{has_none}. Build it: {build}; or name one with `image`")
    raise PreflightError(
        f"{has_none}, which the job names with `image`. Bring it here ({engine.name} pull, or "
        f"build), or leave `image` out for the one of this project: {build}"
    )
