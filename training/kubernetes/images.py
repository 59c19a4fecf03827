"""The images of the cluster's own parts, each pinned, and where they come from elsewhere.

A digest is of all architectures together. The two without one are pinned by a tag that their
authors do not move: no public page tells their digest. Name your own mirror's with `--image`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from training.errors import UsageError

AUTOSCALERS = {
    "1.35": "v1.35.2@sha256:aac369dc283927a623deb1af54696efcc722ae79255aa07788422e495bab887d",
    "1.36": "v1.36.1@sha256:461388d03eb5b55db58941ee7a81d9a619dd15302b01cbab9f5a9946715994b4",
}
"""By version of Kubernetes, of whose scheduler it holds a copy; an older cluster gets the first.

https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler#releases
"""

_HOST = "[a-z0-9]+(([.]|-+)[a-z0-9]+)*(:[0-9]{1,5})?"
_PART = "[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*"
_TAG = ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = "@sha256:[0-9a-f]{64}"
ADDRESS = re.compile(rf"({_HOST}/)?{_PART}(/{_PART})*({_TAG}({_DIGEST})?|{_DIGEST})")
"""Registry, repository, and a tag or a digest, or both:
https://github.com/distribution/reference. The charts take images by the same pattern
(charts/make/shared.py), and like these commands not the tag latest."""


@dataclass(frozen=True)
class Image:
    """The image of one part."""

    name: str
    """As `--image` takes it."""
    address: str
    value: str | None
    """Its key among the chart's `images`; None: not of the chart."""
    is_needed: bool = True
    """Whether this cluster has the part."""

    @property
    def is_pinned(self) -> bool:
        """Whether the address has a digest, so that it is always the same image."""
        return "@sha256:" in self.address

    def mirrored(self, registry: str) -> Image:
        """Return it as a registry has it that keeps the names of others below its own."""
        return replace(self, address=f"{registry.rstrip('/')}/{self.address.partition('/')[2]}")


def pinned(kubernetes_version: str, *, efa: bool) -> tuple[Image, ...]:
    """Return the images of a cluster's parts."""
    known = AUTOSCALERS.get(kubernetes_version, next(iter(AUTOSCALERS.values())))
    return (
        Image(
            "autoscaler", f"registry.k8s.io/autoscaling/cluster-autoscaler:{known}", "autoscaler"
        ),
        Image(
            "nvidia-device-plugin",
            "nvcr.io/nvidia/k8s-device-plugin:v0.19.3"
            "@sha256:25cc340fe6fd53c101e16fc452f503e7a92c219c64a80ed5381784b522dbbf77",
            "nvidiaDevicePlugin",
        ),
        Image(
            "efa-device-plugin",
            "public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.7",
            "efaDevicePlugin",
            is_needed=efa,
        ),
        Image(
            "folders",
            "docker.io/library/busybox:1.37.0"
            "@sha256:9db7b59979c38555a39def84a31fb98b5296952f9e3afd4f6f11f05b07adfab0",
            "folders",
        ),
        Image("mpi-operator", "docker.io/mpioperator/mpi-operator:0.8.0", None),
    )


def chosen(
    images: Iterable[Image], *, registry: str | None, own: Iterable[str]
) -> tuple[Image, ...]:
    """Return the images from where the user has them.

    Args:
        images: The pinned ones.
        registry: Holds all of them, each below its own path; None: their authors' registries.
        own: `NAME=ADDRESS` for single ones; they win.

    Raises:
        UsageError: There is no such image, or it is no address.
    """
    there = tuple(images)
    named = dict(_read(own, {image.name: image for image in there}))
    if registry is not None and not re.fullmatch(r"[\w.-]+(:\d+)?(/[\w.-]+)*/?", registry):
        raise UsageError(
            f"--registry {registry}: expected HOST or HOST/PATH, such as "
            "123456789012.dkr.ecr.us-east-1.amazonaws.com/mirror"
        )
    return tuple(
        replace(image, address=named[image.name])
        if image.name in named
        else image.mirrored(registry)
        if registry
        else image
        for image in there
    )


def _read(own: Iterable[str], there: Mapping[str, Image]) -> Iterator[tuple[str, str]]:
    for text in own:
        name, _, address = text.partition("=")
        if name not in there:
            raise UsageError(
                f"--image {text}: there is no {name!r}; expected one of {_list(there)}"
            )
        if "/" not in address or not is_fixed(address):
            raise UsageError(
                f"--image {text}: expected {name}=REGISTRY/NAME:TAG or "
                f"{name}=REGISTRY/NAME@sha256:..., and not latest, which moves"
            )
        yield name, address


def _list(there: Iterable[str]) -> str:
    return ", ".join(sorted(there))


def is_fixed(address: str) -> bool:
    """Return whether it names an image, and the same one tomorrow."""
    return bool(ADDRESS.fullmatch(address)) and not address.endswith(":latest")


def check_image(place: str, image: str) -> None:
    """Refuse an image of jobs whose name the charts do not take.

    Raises:
        UsageError: With what they take.
    """
    if not is_fixed(image):
        raise UsageError(
            f"{place}: {image!r}: on platform eks an image is named registry/repository:tag or "
            "registry/repository@sha256: and 64 digits, in small letters, and not latest"
        )
