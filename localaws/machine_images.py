"""AWS' Deep Learning AMIs, as far as their names and the parameters that lead to the newest.

Nothing runs from them here: they are there for what asks which one it is.
https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from moto.core.utils import utcnow
from moto.ec2.models.amis import Ami
from moto.ssm import urls
from moto.ssm.models import Parameter, ParameterDict, SimpleSystemManagerBackend

PREFIX = "/aws/service/deeplearning/ami/"

OWNER = "898082745236"
"""AWS' account of the Deep Learning AMIs."""


@dataclass(frozen=True)
class PublicImage:
    """One of them."""

    architecture: str
    kind: str
    """As the parameter spells it."""
    name: str
    """Without the date at its end."""

    @property
    def parameter(self) -> str:
        return f"{PREFIX}{self.architecture}/{self.kind}/latest/ami-id"

    def id_in(self, region: str) -> str:
        digest = hashlib.sha256(f"{region}{self.parameter}".encode()).hexdigest()
        return f"ami-{digest[:17]}"


_OSS = "Deep Learning Base OSS Nvidia Driver GPU AMI"
_PROPRIETARY = "Deep Learning Base Proprietary Nvidia Driver"
_SYSTEMS = {
    "ubuntu-22.04": "Ubuntu 22.04",
    "ubuntu-24.04": "Ubuntu 24.04",
    "amazon-linux-2023": "Amazon Linux 2023",
}
DATE = "20251121"

IMAGES = (
    *(
        PublicImage("x86_64", f"base-oss-nvidia-driver-gpu-{key}", f"{_OSS} ({system})")
        for key, system in _SYSTEMS.items()
    ),
    *(
        PublicImage(
            "arm64",
            f"base-oss-nvidia-driver-gpu-{key}",
            f"Deep Learning ARM64 Base OSS Nvidia Driver GPU AMI ({system})",
        )
        for key, system in _SYSTEMS.items()
    ),
    PublicImage(
        "x86_64",
        "base-proprietary-nvidia-driver-gpu-ubuntu-22.04",
        f"{_PROPRIETARY} GPU AMI (Ubuntu 22.04)",
    ),
    PublicImage(
        "x86_64",
        "base-proprietary-nvidia-driver-gpu-ubuntu-20.04",
        f"{_PROPRIETARY} GPU AMI (Ubuntu 20.04)",
    ),
    PublicImage(
        "x86_64",
        "base-proprietary-nvidia-driver-amazon-linux-2",
        f"{_PROPRIETARY} AMI (Amazon Linux 2)",
    ),
)


def amis(backend: Any) -> Iterator[Ami]:
    """Yield the images of a region, as EC2 shows them."""
    for image in IMAGES:
        yield Ami(
            backend,
            image.id_in(backend.region_name),
            name=f"{image.name} {DATE}",
            description=image.name,
            owner_id=OWNER,
            owner_alias="amazon",
            public=True,
            virtualization_type="hvm",
            architecture=image.architecture,
            state="available",
            platform=None,
            image_type="machine",
            image_location=f"amazon/{image.name} {DATE}",
            root_device_name="/dev/sda1" if "Ubuntu" in image.name else "/dev/xvda",
            root_device_type="ebs",
            region_name=backend.region_name,
        )


class PublicParameters(ParameterDict):
    """Parameters with those of the Deep Learning AMIs, from the first look at one on."""

    def __init__(self, account_id: str, region_name: str) -> None:
        super().__init__(account_id, region_name)
        self.has_deep_learning = False

    def _check_loading_status(self, key: str) -> None:
        super()._check_loading_status(key)
        if not str(key or "").startswith(PREFIX) or self.has_deep_learning:
            return
        self.has_deep_learning = True
        for image in IMAGES:
            super(ParameterDict, self).__getitem__(image.parameter).append(
                Parameter(  # type: ignore[abstract]
                    account_id=self.account_id,
                    name=image.parameter,
                    value=image.id_in(self.region_name),
                    parameter_type="String",
                    description=None,
                    allowed_pattern=None,
                    keyid=None,
                    last_modified_date=utcnow(),
                    version=1,
                    data_type="aws:ec2:image",
                )
            )


class ParameterBackend(SimpleSystemManagerBackend):
    """Systems Manager's state in one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._parameters = PublicParameters(account_id, region_name)

    @property
    def _url_module(self) -> ModuleType:
        return urls
