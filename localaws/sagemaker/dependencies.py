"""What must be there before a notebook instance is: SageMaker looks, and refuses."""

from __future__ import annotations

import json
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models import ec2_backends
from moto.iam.exceptions import NotFoundException
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.sagemaker.exceptions import ValidationError
from moto.utilities.utils import get_partition

_SERVICE = "sagemaker.amazonaws.com"


class Dependencies:
    """The services that a notebook instance uses, as one region has them."""

    def __init__(self, account_id: str, region: str) -> None:
        self._iam = iam_backends[account_id][get_partition(region)]
        self._ec2: Any = ec2_backends[account_id][region]
        self._kms = kms_backends[account_id][region]

    def check(self, request: dict[str, Any]) -> None:
        """Refuse a request that names what is not there.

        Raises:
            ValidationError: Names it.
        """
        if role := request.get("RoleArn"):
            self._check_role(role)
        if subnet := request.get("SubnetId"):
            self._check_network(subnet, request.get("SecurityGroupIds") or [])
        if key := request.get("KmsKeyId"):
            self._check_key(key)

    def _check_role(self, arn: str) -> None:
        try:
            role = self._iam.get_role_by_arn(arn)
        except NotFoundException:
            trusted: list[str] = []
        else:
            trusted = _trusted_services(role.assume_role_policy_document)
        if _SERVICE not in trusted:
            raise ValidationError(
                message=f"Could not assume role {arn}. Please ensure that the role exists and "
                f"allows principal '{_SERVICE}' to assume the role."
            )

    def _check_network(self, subnet_id: str, group_ids: list[str]) -> None:
        try:
            vpc_id = self._ec2.get_subnet(subnet_id).vpc_id
        except ServiceException as error:
            raise ValidationError(message=f"SubnetId {subnet_id}: does not exist") from error
        for group_id in group_ids:
            group = self._ec2.get_security_group_from_id(group_id)
            if group is None or group.vpc_id != vpc_id:
                raise ValidationError(
                    message=f"SecurityGroupIds {group_id}: not in {vpc_id}, the VPC of {subnet_id}"
                )

    def _check_key(self, key_id: str) -> None:
        if self._kms.any_id_to_key_id(key_id) not in self._kms.keys:
            raise ValidationError(message=f"KmsKeyId {key_id}: does not exist")

    def join(self, name: str, subnet_id: str, group_ids: list[str]) -> str:
        """Return the id of a network interface that is made for a notebook instance."""
        interface = self._ec2.create_network_interface(
            subnet_id, [], group_ids=group_ids, description=f"[Do not delete] SageMaker {name}"
        )
        return str(interface.id)

    def leave(self, network_interface_id: str) -> None:
        self._ec2.delete_network_interface(network_interface_id)


def _trusted_services(document: str) -> list[str]:
    statements = json.loads(document)["Statement"]
    found: list[str] = []
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        found += [services] if isinstance(services, str) else services
    return found
