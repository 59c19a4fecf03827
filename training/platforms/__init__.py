"""The platforms: one module each, imported when chosen."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from training.platforms.api import Platform

_MODULES = {
    "local": "training.platforms.local",
    "sagemaker": "training.platforms.sagemaker.platform",
    "ec2": "training.platforms.ec2.platform",
    "eks": "training.platforms.eks.platform",
}

NAMES = tuple(_MODULES)


def load(name: str) -> Platform:
    """Import the platform of that name, which must be one of `NAMES`."""
    return cast(Platform, import_module(_MODULES[name]))
