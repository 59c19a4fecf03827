"""The cluster's SSH keys in Secrets Manager: made once, by whichever head comes first."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from . import json_file, key_pair, paths
from .aws_cli import AwsError, aws


@dataclass(frozen=True, repr=False)
class ClusterKeys:
    """Two pairs: that of root on each node, and that of the SSH server on each node.

    One host key for all: the client's list of known hosts is one line and never changes, whichever
    nodes come and go, and a node that is not of the cluster does not have it.
    """

    user_private: str
    user_public: str
    host_private: str
    host_public: str


def read(secret_arn: str, region: str) -> ClusterKeys | None:
    """Return the cluster's keys, or None where there are none yet.

    Raises:
        AwsError: The secret cannot be read.
    """
    try:
        answer = aws("secretsmanager", "get-secret-value", "--secret-id", secret_arn, region=region)
    except AwsError as error:
        # The secret is there from the stack, without a value.
        if error.code == "ResourceNotFoundException" and "AWSCURRENT" in str(error):
            return None
        raise
    return parse(answer.get("SecretString") if isinstance(answer, dict) else None)


def parse(text: object) -> ClusterKeys | None:
    """Return the keys of a secret's text, or None where it holds no four keys."""
    try:
        value: Any = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    names = [field.name for field in fields(ClusterKeys)]
    if not isinstance(value, Mapping) or not all(isinstance(value.get(one), str) for one in names):
        return None
    keys = ClusterKeys(**{name: value[name] for name in names})
    is_good = (
        key_pair.is_private(keys.user_private)
        and key_pair.is_public(keys.user_public)
        and key_pair.is_private(keys.host_private)
        and key_pair.is_public(keys.host_public)
    )
    return keys if is_good else None


def make(secret_arn: str, region: str) -> None:
    """Make keys and put them into the secret, unless another head was first.

    Secrets Manager takes one value for one request token and refuses a second one, so that a token
    made of the secret's own name lets exactly one head win; the caller reads what is there then.
    https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html

    Raises:
        AwsError: The secret cannot be written.
        NodeError: The keys cannot be made.
    """
    token = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{secret_arn}/first"))
    paths.RUN.mkdir(parents=True, exist_ok=True)
    # In memory, this user's alone (mode 0700), and gone when this block ends.
    with tempfile.TemporaryDirectory(dir=paths.RUN, prefix="keys-") as name:
        folder = Path(name)
        keys = ClusterKeys(*key_pair.make(folder, "user"), *key_pair.make(folder, "host"))
        file = folder / "secret.json"
        json_file.write(file, asdict(keys), mode=0o600)
        try:
            aws(
                "secretsmanager", "put-secret-value", "--secret-id", secret_arn,
                "--client-request-token", token, "--secret-string", f"file://{file}",
                region=region,
            )  # fmt: skip
        except AwsError as error:
            if error.code != "ResourceExistsException":
                raise
