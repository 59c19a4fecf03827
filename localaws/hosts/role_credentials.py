"""The credentials of an instance's role, which its metadata service gives away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from moto.core.utils import iso_8601_datetime_without_milliseconds, utcnow
from moto.sts.models import sts_backends

LIFE_S = 6 * 3600


def role_of(instance: Any) -> Any | None:
    """Return the IAM role of an instance's profile; None where it has no profile."""
    found = instance.ec2_backend.iam_instance_profile_associations.get(instance.id)
    roles = found.iam_instance_profile.roles if found else []
    return roles[0] if roles else None


def of(instance: Any, role: Any) -> dict[str, str]:
    """Return new credentials, in the form of the metadata service."""
    ec2 = instance.ec2_backend
    assumed = sts_backends[ec2.account_id][ec2.partition].assume_role(
        region_name=ec2.region_name,
        role_session_name=instance.id,
        role_arn=role.arn,
        policy="",
        duration=LIFE_S,
        external_id="",
    )
    now = utcnow()
    return {
        "Code": "Success",
        "Type": "AWS-HMAC",
        "LastUpdated": _text(now),
        "AccessKeyId": assumed.access_key_id,
        "SecretAccessKey": assumed.secret_access_key,
        "Token": assumed.session_token,
        "Expiration": _text(now + timedelta(seconds=LIFE_S)),
    }


def _text(time: Any) -> str:
    return str(iso_8601_datetime_without_milliseconds(time))
