"""`python -m training.kubernetes.token CLUSTER REGION`: what kubectl and helm sign in to EKS with.

The token is a presigned request of STS, GetCallerIdentity, with the cluster's name in a signed
header: the cluster sends it, and so learns who made it.
https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from training.aws.errors import translated
from training.errors import ExitCode, TrainingError

PREFIX = "k8s-aws-v1."
_HEADER = "x-k8s-aws-id"
_URL_S = 60
_TOKEN = timedelta(minutes=14)
"""The cluster takes it for fifteen minutes."""


def token(cluster: str, client: Any) -> str:
    """Return a token for a cluster.

    Args:
        cluster: Its name.
        client: Of STS, in the cluster's region.

    Raises:
        AwsError: There are no credentials.
    """

    def name_cluster(request: Any, **_: Any) -> None:
        request.headers[_HEADER] = cluster

    client.meta.events.register("before-sign.sts.GetCallerIdentity", name_cluster)
    with translated():
        url = client.generate_presigned_url(
            "get_caller_identity", ExpiresIn=_URL_S, HttpMethod="GET"
        )
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def credential(cluster: str, client: Any, now: datetime) -> dict[str, Any]:
    """Return the token as kubectl and helm take it.

    https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
    """
    expires = (now + _TOKEN).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"expirationTimestamp": expires, "token": token(cluster, client)},
    }


def main(arguments: Sequence[str]) -> int:
    from training.aws.client import new_client, new_session

    cluster, region = arguments
    try:
        client = new_client(new_session(region=region), "sts")
        made = credential(cluster, client, datetime.now(UTC))
    except TrainingError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(made) + "\n")
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
