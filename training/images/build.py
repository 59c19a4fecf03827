"""`python -m training.images build`: build an image with the engine of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.container_engine import BUILDERS, STDERR, Engine, environment, find_engine
from training.errors import JobFailed, UsageError
from training.images import base, space
from training.images.base_images import DEBIAN, DEFAULT_REGION
from training.images.context import build_context
from training.images.recipes import RECIPES, Recipe, Variant, split_variant
from training.images.registry_access import let_in
from training.images.sources import PROJECT
from training.images.tag import image_tag, local_name
from training.job_options import OutputsFileOption

_DOCKER = {"DOCKER_BUILDKIT": "1", "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"}
"""With attestations, docker would make a list of images, which SageMaker refuses
(https://docs.docker.com/build/building/variables/#buildx_no_default_attestations)."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a build gets what is not in the sources; not part of the tag."""

    base_image: str | None = None
    """None is the one that its recipe names."""
    torch_index: str | None = None
    """A package index with CPU builds of PyTorch."""
    ca_bundle: Path | None = None
    """Certificates of a proxy; given as a secret, which no layer keeps."""
    region: str = DEFAULT_REGION
    """Where one of Amazon's base images is taken from."""
    cache: str | None = None
    """A repository for the layers of builds, read and written."""

    @property
    def private_images(self) -> tuple[str, ...]:
        """What may take a sign-in."""
        return tuple(image for image in (self.base_image, self.cache) if image)


AlgorithmOption = Annotated[str, typer.Option(help=f"Whose image: {', '.join(RECIPES)}.")]
VariantOption = Annotated[
    str,
    typer.Option(
        help="gpu or cpu; of horovod also gpu-arm64, cpu-arm64, smddp (with SageMaker's data "
        "parallel library) and notebook (Jupyter and TensorBoard beside its logs)."
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(help=f"{', '.join(BUILDERS)}; default: the first of them that answers."),
]
BaseImageOption = Annotated[
    str | None,
    typer.Option(
        help=f"Instead of the Dockerfile's base; `{base.DEBIAN}` makes one from Debian's "
        "packages, where no registry can be reached."
    ),
]
TorchIndexOption = Annotated[
    str | None, typer.Option(help="A package index with CPU builds of PyTorch.")
]
CaBundleOption = Annotated[
    Path | None,
    typer.Option(
        envvar="PIP_CERT", help="Certificates that pip trusts, where a proxy has its own."
    ),
]
CacheOption = Annotated[
    str | None,
    typer.Option(
        metavar="REPOSITORY",
        help="Take layers of earlier builds from there, and put new ones there. Each is an image "
        "with a tag: not a repository of RegistryStack, which keeps so many images only.",
    ),
]
RegionOption = Annotated[
    str,
    typer.Option(
        envvar=["AWS_REGION", "AWS_DEFAULT_REGION"],
        help="Where the base image is taken from, if it is one of Amazon's.",
    ),
]


def build(  # noqa: PLR0917  Typer reads the options from the signature
    algorithm: AlgorithmOption = "horovod",
    variant: VariantOption = "gpu",
    engine: EngineOption = None,
    base_image: BaseImageOption = None,
    torch_index: TorchIndexOption = None,
    ca_bundle: CaBundleOption = None,
    cache: CacheOption = None,
    region: RegionOption = DEFAULT_REGION,
    remote: Annotated[
        bool,
        typer.Option(
            "--remote",
            help="Build in AWS, by RegistryStack's CodeBuild project, and push it there: for "
            "machines without a container engine.",
        ),
    ] = False,
    outputs_file: OutputsFileOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """Build an image; its name is the result.

    One that this machine has already is not built again.
    """
    recipe, chosen = choose(algorithm, variant)
    origin = Origin(
        base_image=base_image,
        torch_index=torch_index,
        ca_bundle=ca_bundle,
        region=region,
        cache=cache,
    )
    if remote:
        # Here, since it builds on this module.
        from training.images.remote import build_and_show

        build_and_show(algorithm, chosen, origin, outputs_file, output)
        return
    found = find_engine(engine, BUILDERS)
    name = local_name(algorithm, variant=chosen)
    was_built = build_unless_here(found, recipe, name, chosen, origin)
    if output is Format.JSON:
        tag = image_tag(algorithm, variant=chosen)
        print_json({"image": name, "tag": tag, "engine": found.name, "built": was_built})
    else:
        result.print(name)


def build_unless_here(
    engine: Engine, recipe: Recipe, name: str, variant: Variant, origin: Origin
) -> bool:
    """Build an image that the engine does not have; return whether it was built.

    Raises:
        PreflightError: There is too little space, or no base image can be made.
        JobFailed: A step of the Dockerfile failed.
        UsageError: A source is missing, or the base image cannot be had so.
    """
    if engine.has_image(name):
        return False
    origin = replace(origin, base_image=_base_image(engine, recipe, origin))
    build_image(engine, recipe, name, variant, origin)
    return True


def _base_image(engine: Engine, recipe: Recipe, origin: Origin) -> str:
    if origin.base_image is None:
        return recipe.base.uri(origin.region)
    if origin.base_image != base.DEBIAN:
        return origin.base_image
    if recipe.base != DEBIAN:
        own = recipe.base.uri(origin.region)
        raise UsageError(
            f"--base-image {base.DEBIAN}: {recipe.folder} needs what {own} has; leave --base-image "
            "out, or name a copy of that image"
        )
    return base.make(engine, log.print)


def build_image(
    engine: Engine,
    recipe: Recipe,
    name: str,
    variant: Variant,
    origin: Origin,
    *,
    project: Path = PROJECT,
) -> None:
    """Build an image; what the engine says goes to stderr.

    Raises:
        PreflightError: There is too little space.
        JobFailed: A step of the Dockerfile failed.
        UsageError: A source is missing.
        AwsError: The registry of the base image cannot be reached, or does not let this user in.
    """
    if origin.cache is not None and engine.name == "docker":
        raise UsageError("--cache: takes podman or buildah; docker would need another builder")
    space.require(engine, recipe.needs_gib)
    with (
        build_context(project, recipe) as context,
        let_in(engine, origin.private_images, log.print) as access,
    ):
        builder, sign_ins = (access.engine, access.authfile) if access else (engine, ())
        argv = builder.argv(
            *_command(engine),
            *sign_ins,
            *("--file", str(context / recipe.dockerfile), "--tag", name),
            *_arguments(variant, origin, name),
            str(context),
        )
        code = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=STDERR,
            env={**_DOCKER, **environment()},
            check=False,
        ).returncode
    if code:
        raise JobFailed(
            f"{recipe.dockerfile}: {engine.name} ended with exit code {code}; its last lines above "
            "say in which step. Steps that are done are kept: a new try goes on from there."
            f"{_instead_of_pulling(recipe, origin)}"
        )


def _instead_of_pulling(recipe: Recipe, origin: Origin) -> str:
    """Return what to do where the base image could not be had: engines do not tell that apart."""
    if recipe.base != DEBIAN or origin.base_image not in (None, DEBIAN.name):
        return ""
    return (
        f" If {DEBIAN.name} could not be pulled, --base-image {base.DEBIAN} makes it from Debian's "
        "packages."
    )


def _command(engine: Engine) -> Iterator[str]:
    yield "build"
    if engine.name != "docker":
        yield "--layers"  # buildah keeps no step by itself, podman does
    else:
        yield "--progress=plain"


def _arguments(variant: Variant, origin: Origin, name: str) -> Iterator[str]:
    device, architecture = split_variant(variant)
    if architecture is not None:
        yield from ("--platform", f"linux/{architecture}")
    arguments = {
        "VARIANT": device,
        "BASE_IMAGE": origin.base_image,
        "TORCH_INDEX": origin.torch_index,
    }
    for key, value in arguments.items():
        if value is not None:
            yield from ("--build-arg", f"{key}={value}")
    if origin.cache is not None:
        yield from ("--cache-from", origin.cache, "--cache-to", origin.cache)
    if origin.ca_bundle is not None:
        yield from ("--secret", f"id=ca-bundle,src={origin.ca_bundle.resolve()}")
    yield from ("--label", f"mask-rcnn.sources={name.rpartition(':')[2]}")


def choose(algorithm: str, variant: str) -> tuple[Recipe, Variant]:
    """Return what the options name.

    Raises:
        UsageError: There is no such image.
    """
    if algorithm not in RECIPES:
        raise UsageError(f"--algorithm: {algorithm!r} is not one of {', '.join(RECIPES)}")
    recipe = RECIPES[algorithm]
    for known in recipe.variants:
        if known == variant:
            return recipe.of(known), known
    raise UsageError(
        f"--variant: {variant!r}: the image of {algorithm} has {', '.join(recipe.variants)} only"
    )
