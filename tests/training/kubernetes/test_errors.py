"""What helm 4.1 and kubectl 1.35 say, each as it came from the real program."""

from __future__ import annotations

import pytest

from training.errors import ExitCode, UsageError
from training.kubernetes.errors import (
    HelmBusy,
    KubernetesRefused,
    KubernetesUnreachable,
    NoClusterCredentials,
    NotReady,
    ReleaseExists,
    judge,
    judge_helm,
)


@pytest.mark.parametrize(
    ("said", "reason", "remedy"),
    [
        ('Error from server (NotFound): pods "x" not found', "NotFound", ""),
        (
            'Error from server (Forbidden): pods is forbidden: User "u" cannot list resource',
            "Forbidden",
            "eks_admin_arns",
        ),
        (
            "error: You must be logged in to the server (Unauthorized)",
            "Unauthorized",
            "does not know this identity",
        ),
        (
            'error: the server doesn\'t have a resource type "mpijobs"',
            "NoSuchKind",
            "training.kubernetes install",
        ),
        ('Error from server (Invalid): Job.batch "a" is invalid: spec', "Invalid", ""),
        ("", "Unknown", "failed without a word"),
    ],
)
def test_refusals_keep_their_reason_and_say_what_to_do(said: str, reason: str, remedy: str) -> None:
    error = judge(said, doing="kubectl get pods")
    assert isinstance(error, KubernetesRefused)
    assert error.reason == reason
    assert remedy in str(error)
    assert error.exit_code is ExitCode.AWS


@pytest.mark.parametrize(
    ("said", "may_have_arrived"),
    [
        (
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right "
            "host or port?",
            False,
        ),
        ("Unable to connect to the server: dial tcp: lookup a.eks.amazonaws.com: no such host",
         False),
        ("Unable to connect to the server: net/http: TLS handshake timeout", False),
        ("Unable to connect to the server: EOF", True),
        ("Unable to connect to the server: context deadline exceeded (Client.Timeout exceeded "
         "while awaiting headers)", True),
    ],
)  # fmt: skip
def test_an_endpoint_that_does_not_answer_is_told_with_where_to_go_on(
    said: str, may_have_arrived: bool
) -> None:
    error = judge(said, doing="kubectl get pods")
    assert isinstance(error, KubernetesUnreachable)
    assert error.may_have_arrived is may_have_arrived
    assert "eks_api_cidrs" in str(error)


def test_missing_credentials_are_not_taken_for_a_network_failure() -> None:
    said = (
        "E1129 01:02:03.000000 1 memcache.go:265] couldn't get current server API group list\n"
        "Unable to connect to the server: getting credentials: exec: executable python failed "
        "with exit code 4"
    )
    error = judge(said, doing="kubectl get pods")
    assert isinstance(error, NoClusterCredentials)
    assert "memcache" not in str(error)


def test_tokens_in_addresses_are_not_shown() -> None:
    error = judge("Unable to connect to https://user:secret@host: EOF", doing="kubectl version")
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("said", "kind", "part"),
    [
        (
            "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
            HelmBusy,
            "helm rollback r -n n",
        ),
        (
            "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
            ReleaseExists,
            "r",
        ),
        # Two that began in one moment.
        ("Error: INSTALLATION FAILED: release: already exists", ReleaseExists, "release r"),
        ("Error: UPGRADE FAILED: release: already exists", HelmBusy, "another command works on"),
        (
            "Error: invalid kube version 'one': could not parse \"one\" as version",
            UsageError,
            "KubernetesStack.KubernetesVersion: invalid kube version 'one'",
        ),
        (
            "Error: execution error at (maskrcnn/templates/job.yaml:3:4): nodes: 0 is too few",
            UsageError,
            "helm install: nodes: 0 is too few (maskrcnn/templates/job.yaml:3:4)",
        ),
        (
            "Error: execution error at (maskrcnn/templates/job.yaml:3:4): nodes: 0 is too few\n\n"
            "Use --debug flag to render out invalid YAML\n",
            UsageError,
            "helm install: nodes: 0 is too few (maskrcnn/templates/job.yaml:3:4)",
        ),
        (
            "Error: UPGRADE FAILED: resource Deployment/kube-system/cluster-autoscaler not ready. "
            "status: InProgress\ncontext deadline exceeded",
            NotReady,
            "Deployment/kube-system/cluster-autoscaler did not get ready in time",
        ),
    ],
)
def test_what_helm_says_becomes_one_clear_message(
    said: str, kind: type[Exception], part: str
) -> None:
    error = judge_helm(said, doing="helm install", release="r", namespace="n")
    assert isinstance(error, kind)
    assert part in str(error)
    assert "--debug" not in str(error)


def test_every_complaint_of_a_schema_is_in_the_message() -> None:
    said = (
        "Error: values don't meet the specifications of the schema(s) in the following chart(s):\n"
        "cluster:\n- at '/namespace': 'not' failed\n- at '/efa': got string, want boolean\n"
    )
    error = judge_helm(said, doing="helm template", release="r", namespace="n")
    assert isinstance(error, UsageError)
    assert str(error) == (
        "helm template: at '/namespace': 'not' failed; at '/efa': got string, want boolean"
    )
