"""A SageMaker notebook instance: its settings, and the states that it may be changed in."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import botocore.session
from moto.core.utils import utcnow
from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker.errors import wrong_status

SETTINGS = (
    "InstanceType",
    "RoleArn",
    "VolumeSizeInGB",
    "PlatformIdentifier",
    "RootAccess",
    "DefaultCodeRepository",
    "AdditionalCodeRepositories",
    "AcceleratorTypes",
    "InstanceMetadataServiceConfiguration",
    "IpAddressType",
)
"""What can be given and changed, by the name that it has in every request."""

_FIXED = ("SubnetId", "KmsKeyId", "DirectInternetAccess")
"""What can only be given at creation."""

_DEFAULTS: dict[str, Any] = {
    "VolumeSizeInGB": 5,
    "RootAccess": "Enabled",
    "DirectInternetAccess": "Enabled",
    "InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion": "1"},
}
"""https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateNotebookInstance.html"""

_DISASSOCIATIONS = {
    "DisassociateLifecycleConfig": "NotebookInstanceLifecycleConfigName",
    "DisassociateDefaultCodeRepository": "DefaultCodeRepository",
    "DisassociateAdditionalCodeRepositories": "AdditionalCodeRepositories",
    "DisassociateAcceleratorTypes": "AcceleratorTypes",
}

_VOLUME_GIB = range(5, 16384 + 1)

Status = Literal["InService", "Stopped"]


class NotebookInstance:
    """One notebook instance; `notebook_instance_name`, `arn` and `tags` are moto's names."""

    def __init__(self, name: str, arn: str, request: dict[str, Any]) -> None:
        self.notebook_instance_name = name
        self.arn = arn
        self.tags: list[dict[str, str]] = request.get("Tags") or []
        self.network_interface_id: str | None = None
        self.status: Status = "InService"
        self.creation_time = self.last_modified_time = utcnow()
        self._settings = {**_DEFAULTS, **_given(request, (*SETTINGS, *_FIXED))}
        self._settings["NotebookInstanceLifecycleConfigName"] = request.get("LifecycleConfigName")
        self._settings["SecurityGroups"] = request.get("SecurityGroupIds") or []
        _check(self._settings)

    def update(self, request: dict[str, Any]) -> None:
        """Take the settings of a request, and drop those that it says to drop.

        Raises:
            ValidationError: It runs, its volume would shrink, or a value is not allowed.
        """
        self._require(["Stopped", "Failed"], "Updating")
        settings = {**self._settings, **_given(request, SETTINGS)}
        if "LifecycleConfigName" in request:
            settings["NotebookInstanceLifecycleConfigName"] = request["LifecycleConfigName"]
        for flag, name in _DISASSOCIATIONS.items():
            if request.get(flag):
                settings.pop(name, None)
        _check(settings)
        before, after = self._settings["VolumeSizeInGB"], settings["VolumeSizeInGB"]
        if after < before:
            raise ValidationError(
                message=f"VolumeSizeInGB {after}: the volume has {before} GB and cannot shrink. "
                "Make a new notebook instance for a smaller one"
            )
        self._settings = settings
        self.last_modified_time = utcnow()

    def start(self) -> None:
        self._require(["Stopped", "Failed"], "Pending")
        self.status = "InService"

    def stop(self) -> None:
        self._require(["InService"], "Stopping")
        self.status = "Stopped"

    @property
    def is_deletable(self) -> bool:
        return self.status == "Stopped"

    def _require(self, allowed: list[str], to: str) -> None:
        if self.status not in allowed:
            raise wrong_status(self.status, allowed, to, self.arn)

    @property
    def url(self) -> str:
        region = self.arn.split(":")[3]
        return f"{self.notebook_instance_name}.notebook.{region}.sagemaker.aws"

    def to_dict(self) -> dict[str, Any]:
        described = {
            "NotebookInstanceArn": self.arn,
            "NotebookInstanceName": self.notebook_instance_name,
            "NotebookInstanceStatus": self.status,
            "Url": self.url,
            "NetworkInterfaceId": self.network_interface_id,
            "CreationTime": self.creation_time,
            "LastModifiedTime": self.last_modified_time,
            **self._settings,
        }
        return {name: value for name, value in described.items() if value is not None}


def _given(request: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: request[name] for name in names if request.get(name) is not None}


def _check(settings: dict[str, Any]) -> None:
    _check_enum("InstanceType", settings["InstanceType"])
    _check_enum("RootAccess", settings["RootAccess"])
    _check_enum("DirectInternetAccess", settings["DirectInternetAccess"])
    platform = settings.get("PlatformIdentifier")
    if platform is not None and platform not in _platforms():
        raise ValidationError(
            message=f"PlatformIdentifier {platform}: must be one of {', '.join(_platforms())}"
        )
    volume_gib = settings["VolumeSizeInGB"]
    if volume_gib not in _VOLUME_GIB:
        raise ValidationError(
            message=f"Invalid range for parameter VolumeSizeInGB, value: {volume_gib}, valid "
            f"range: {_VOLUME_GIB[0]}-{_VOLUME_GIB[-1]}"
        )
    if settings["DirectInternetAccess"] == "Disabled" and "SubnetId" not in settings:
        raise ValidationError(message="DirectInternetAccess Disabled needs a SubnetId")
    if settings["SecurityGroups"] and "SubnetId" not in settings:
        raise ValidationError(message="SecurityGroupIds need a SubnetId")


def _check_enum(name: str, value: str) -> None:
    allowed = _shape(name).enum
    if value not in allowed:
        raise ValidationError(
            message=f"Value '{value}' at '{name[0].lower()}{name[1:]}' failed to satisfy "
            f"constraint: Member must satisfy enum value set: [{', '.join(allowed)}]"
        )


@cache
def _shape(name: str) -> Any:
    """Return a type of SageMaker's API: botocore's copy knows every instance type there is."""
    return botocore.session.Session().get_service_model("sagemaker").shape_for(name)


@cache
def _platforms() -> list[str]:
    pattern: str = _shape("PlatformIdentifier").metadata["pattern"]
    return pattern.strip("()").split("|")
