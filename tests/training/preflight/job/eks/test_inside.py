"""What is asked of the cluster itself: kubectl and helm are real, the API server is the tests'."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.planning import outputs, request
from tests.training.preflight.job.eks.conftest import EFS, named, served, volume
from training.outputs import KubernetesOutputs
from training.platforms.eks.charts import FOLDER
from training.platforms.eks.connection import connected
from training.platforms.eks.submission import submit
from training.preflight.check import Check
from training.preflight.finding import Finding
from training.preflight.job.eks import answering
from training.preflight.job.eks.answering import ClusterAnswers
from training.preflight.job.eks.inside import Inside
from training.preflight.job.eks.name import NameIsFree
from training.preflight.job.eks.namespace import (
    ClaimsAreBound,
    NamespaceIsReady,
    NamespaceQuotaSuffices,
)
from training.preflight.job.eks.operator import DevicePluginsRun, OperatorRuns

PLUGINS = {"nvidia.com/gpu": ("nvidia", "device-plugin")}


def found(check: Check) -> dict[str, Finding]:
    return {each.code: each for each in check.find()}


def gone(cluster: KubernetesServer, plural: str, name: str) -> None:
    (kind,) = (each for each in cluster.store.kinds if each.plural == plural)
    place = next(each for each in cluster.store.of(kind) if each[1] == name)
    cluster.store.delete(kind, place)


def test_where_all_is_installed_nothing_is_found(inside: Inside) -> None:
    checks: list[Check] = [
        ClusterAnswers(inside),
        OperatorRuns(inside),
        DevicePluginsRun(inside, PLUGINS),
        NamespaceIsReady(inside),
        ClaimsAreBound(inside, {"mask-rcnn-efs": EFS}),
        NamespaceQuotaSuffices(inside, 16, 3),
        NameIsFree(inside, "job-1", "f" * 64, resume=False),
    ]
    assert [each for check in checks for each in check.find()] == []


MISSING: list[tuple[tuple[str, str], Any, str, str]] = [
    (
        ("deployments", "mpi-operator"),
        OperatorRuns,
        "operator-not-running",
        "no pod that is available: nobody would make a job's pods",
    ),
    (
        ("customresourcedefinitions", "mpijobs.kubeflow.org"),
        OperatorRuns,
        "operator-missing",
        "the MPI Operator is not installed. python -m training.kubernetes install",
    ),
    (
        ("daemonsets", "nvidia-device-plugin"),
        lambda inside: DevicePluginsRun(inside, PLUGINS),
        "device-plugin-missing",
        "no DaemonSet of the cluster is called nvidia...device-plugin, as the plugin is that "
        "offers nvidia.com/gpu",
    ),
    (
        ("serviceaccounts", "mask-rcnn"),
        NamespaceIsReady,
        "service-account-missing",
        "namespace kubeflow has no service account mask-rcnn, which jobs run as",
    ),
    (
        ("persistentvolumeclaims", "mask-rcnn-efs"),
        lambda inside: ClaimsAreBound(inside, {"mask-rcnn-efs": EFS}),
        "claim-missing",
        "namespace kubeflow has no volume claim mask-rcnn-efs: python -m training.kub",
    ),
    (
        ("namespaces", "kubeflow"),
        NamespaceIsReady,
        "namespace-missing",
        "the cluster has no namespace kubeflow: python -m training.kubernetes install",
    ),
]
"""What is taken away, in this order: the check that sees it, its code, and what it says."""


def test_what_is_missing_is_an_error_with_the_command_that_makes_it(
    cluster: KubernetesServer, inside: Inside
) -> None:
    for missing, check, code, said in MISSING:
        gone(cluster, *missing)
        (finding,) = check(inside).find()
        assert (finding.code, finding.severity) == (code, "error")
        assert said in finding.message


def test_an_operator_of_another_version_takes_no_job_of_ours(
    cluster: KubernetesServer, inside: Inside
) -> None:
    gone(cluster, "customresourcedefinitions", "mpijobs.kubeflow.org")
    cluster.put(served("v1"))
    finding = found(OperatorRuns(inside))["operator-other-version"]
    assert "takes MPIJobs of v1, and ours are v2beta1" in finding.message


def test_a_claim_that_is_not_bound_or_of_another_file_system(
    cluster: KubernetesServer, inside: Inside
) -> None:
    check = ClaimsAreBound(inside, {"mask-rcnn-efs": EFS})
    cluster.put(volume("mask-rcnn-efs", "fs-0other"))
    (other,) = check.find()
    assert other.code == "volume-of-another"
    assert f"is file system fs-0other, and StorageStack's is {EFS}" in other.message
    there = dict(cluster.find("persistentvolumeclaims", "mask-rcnn-efs") or {})
    cluster.workloads_succeed = False
    cluster.put({**there, "status": {"phase": "Pending"}})
    (pending,) = check.find()
    assert (pending.code, pending.severity) == ("claim-not-bound", "error")


def test_a_quota_of_the_namespace_without_room_is_a_warning(
    cluster: KubernetesServer, inside: Inside
) -> None:
    hard = {"requests.nvidia.com/gpu": "16", "pods": "20"}
    used = {"requests.nvidia.com/gpu": "8", "pods": "2"}
    quota = named("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": used})
    cluster.put(quota)
    (finding,) = NamespaceQuotaSuffices(inside, 16, 3).find()
    assert (finding.code, finding.severity) == ("namespace-quota-too-small", "warning")
    assert "allows 16 requests.nvidia.com/gpu, of which 8 are used, and the job takes 16" in (
        finding.message
    )
    assert list(NamespaceQuotaSuffices(inside, 8, 3).find()) == []


@pytest.mark.parametrize(
    ("access", "where"),
    [
        ("private", "it answers inside the VPC only: launch from ClusterStack's head node or"),
        ("public", "to the networks of eks_api_cidrs: is this machine in one of them?"),
    ],
)
def test_a_cluster_that_does_not_answer_is_told_once_with_from_where_it_would(
    cluster: KubernetesServer, inside: Inside, access: str, where: str
) -> None:
    text = cluster.kubeconfig.read_text(encoding="utf-8")
    cluster.kubeconfig.write_text(text.replace("http://127.0.0.1", "http://127.0.0.2:9/x"))
    away = Inside(outputs(ApiAccess=access).read(KubernetesOutputs))
    finding = found(ClusterAnswers(away))["api-not-reached"]
    assert where in finding.message
    assert list(OperatorRuns(away).find()) == list(NamespaceIsReady(away).find()) == []


def test_an_identity_that_the_cluster_does_not_know_is_told_how_to_get_in(
    cluster: KubernetesServer, inside: Inside
) -> None:
    cluster.refusals[("get", "serviceaccounts")] = (403, "Forbidden", "user cannot get")
    finding = found(ClusterAnswers(inside))["api-not-permitted"]
    assert "eks_admin_arns" in finding.message
    assert list(OperatorRuns(inside).find()) == []


def test_kubectl_may_be_one_minor_version_away(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, is_fine in (("x-v34", True), ("x-v36", True), ("x-v33", False), ("x-v37", False)):
        monkeypatch.setattr(answering, "PACKAGE", package)
        assert ("kubectl-other-version" not in found(ClusterAnswers(inside))) == is_fine


def test_a_name_is_used_once_by_the_same_request_or_to_go_on(
    cluster: KubernetesServer, inside: Inside
) -> None:
    sent = request(name="job-1")
    with connected(inside.cluster) as connection:
        submit(connection, sent)
    ours = NameIsFree(inside, "job-1", sent.fingerprint, resume=False)
    assert found(ours)["job-already-there"].severity == "info"
    other = replace(ours, fingerprint="0" * 64)
    assert "or go on from its checkpoint with --resume" in found(other)["job-name-taken"].message
    goes_on = replace(other, resume=True)
    assert "goes on once it has ended" in found(goes_on)["job-name-taken"].message
    with connected(inside.cluster) as connection:
        values = {"image": "registry/image:1", "volumes": {"fsx": False}}
        connection.helm.install("copy", FOLDER / "stage-data", values)
    assert "which is no job" in found(replace(goes_on, name="copy"))["job-name-taken"].message
