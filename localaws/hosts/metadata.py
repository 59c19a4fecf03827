"""The instance metadata service of one host, version 2 only.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from localaws.hosts import role_credentials

Environ = dict[str, Any]

TAG_PREFIX = "localaws:metadata/"
"""A tag of the instance whose key begins so answers at the rest of the key: what EC2 would say by
itself, such as `localaws:metadata/spot/instance-action`."""

_TOKEN_S = (1, 21600)


class Metadata:
    """A WSGI application that answers for one instance.

    Args:
        instance: moto's instance.
        user_data: What the instance was started with.
    """

    def __init__(self, instance: Any, user_data: bytes) -> None:
        self._instance = instance
        self._user_data = user_data
        self._tokens: dict[str, float] = {}

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        status, body = self._answer(environ)
        length = ("Content-Length", str(len(body)))
        start_response(status, [("Content-Type", "text/plain"), length])
        return [body]

    def _answer(self, environ: Environ) -> tuple[str, bytes]:
        path = environ["PATH_INFO"].removeprefix("/latest/")
        if path == "api/token":
            return self._token(environ)
        token = environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN", "")
        if self._tokens.get(token, 0.0) < time.monotonic():
            return "401 Unauthorized", b""
        if path == "user-data" and self._user_data:
            return "200 OK", self._user_data
        found = self._value(path.removeprefix("meta-data/").rstrip("/"))
        if found is None:
            return "404 Not Found", b""
        return "200 OK", found.encode()

    def _token(self, environ: Environ) -> tuple[str, bytes]:
        if environ["REQUEST_METHOD"] != "PUT":
            return "405 Method Not Allowed", b""
        lifetime = environ.get("HTTP_X_AWS_EC2_METADATA_TOKEN_TTL_SECONDS", "")
        least, most = _TOKEN_S
        if not lifetime.isdigit() or not least <= int(lifetime) <= most:
            return "400 Bad Request", b""
        token = secrets.token_urlsafe(40)
        self._tokens[token] = time.monotonic() + int(lifetime)
        return "200 OK", token.encode()

    def _value(self, path: str) -> str | None:
        tags = self._tags()
        if (set_by_tag := tags.get(TAG_PREFIX + path)) is not None:
            return set_by_tag or None
        if path.startswith("tags/instance/"):
            return tags.get(path.removeprefix("tags/instance/"))
        values = self._values()
        if path in values:
            return values[path]
        role = role_credentials.role_of(self._instance)
        if role is not None and path.startswith("iam/security-credentials"):
            if path == "iam/security-credentials":
                return str(role.name)
            if path == f"iam/security-credentials/{role.name}":
                return json.dumps(role_credentials.of(self._instance, role))
        return None

    def _values(self) -> dict[str, str]:
        instance = self._instance
        zone = str(instance.placement.zone)
        first = instance.nics[0]
        mac = first.mac_address
        interface = f"network/interfaces/macs/{mac}"
        values = {
            "ami-id": instance.image_id,
            "autoscaling/target-lifecycle-state": "InService",
            "hostname": instance.private_dns_name,
            "instance-id": instance.id,
            "instance-life-cycle": instance.lifecycle or "on-demand",
            "instance-type": instance.instance_type,
            "local-hostname": instance.private_dns_name,
            "local-ipv4": instance.private_ip,
            "mac": mac,
            "network/interfaces/macs": f"{mac}/",
            f"{interface}/interface-id": first.id,
            f"{interface}/device-number": "0",
            f"{interface}/local-ipv4s": instance.private_ip,
            f"{interface}/subnet-id": instance.subnet_id,
            f"{interface}/vpc-id": instance.vpc_id,
            "placement/availability-zone": zone,
            "placement/region": instance.region_name,
        }
        return {name: str(value) for name, value in values.items()}

    def _tags(self) -> dict[str, str]:
        return {tag["key"]: tag["value"] for tag in self._instance.get_tags()}
