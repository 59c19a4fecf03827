"""Where else than on this machine a copy may run: inside the VPC, one module a place.

Everywhere the image of the first-party trainer runs `python -m training.data stage` itself, with
the arguments that it was called with here (docker/entrypoint/data.py), so that there is one way to
copy, verify and fail. Only what starts it, and follows it, is different.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from training.data.on.elsewhere import On
from training.data.on.trip import Runner

_MODULES = {
    On.SAGEMAKER: "training.data.on.sagemaker",
    On.EC2: "training.data.on.ec2",
    On.EKS: "training.data.on.eks",
}
"""By name, since each takes a part of the launcher that the image does not have."""


def load(on: On) -> Runner:
    """Return what runs a copy at a place."""
    return cast(Runner, import_module(_MODULES[on]))
