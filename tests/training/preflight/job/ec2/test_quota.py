"""EC2's quotas of virtual processors."""

from __future__ import annotations

from typing import Any

from tests.training.preflight.job.ec2.conftest import MakeGroup
from tests.training.preflight.stacks.conftest import REGION, Stub, codes_of, only_finding_of
from training.aws.ec2 import Ec2
from training.aws.service_quotas import ServiceQuotas
from training.preflight.job.ec2.quota import VcpuQuotaSuffices
from training.preflight.job.ec2.worker_group import WorkerGroup
from training.preflight.stacks.quota import Quota
from training.preflight.stacks.vcpu_quotas import ACCELERATED, SPOT_P4

P = ACCELERATED.name
VCPUS = {"p4d.24xlarge": 96, "p3.16xlarge": 64, "p5.48xlarge": 192}


def quotas(stub: Stub, quota: Quota, value: float | None) -> ServiceQuotas:
    """Answer with a quota's value; None: nobody knows it."""
    request = {"ServiceCode": "ec2", "QuotaCode": quota.code}
    missing = "NoSuchResourceException"
    calls: list[Any] = (
        [("get_service_quota", {"Quota": {"Value": value}}, request)]
        if value is not None
        else [
            ("get_service_quota", missing, request),
            ("get_aws_default_service_quota", missing, request),
        ]
    )
    return ServiceQuotas(stub("service-quotas", *calls))


def types(*names: str) -> Any:
    wanted = sorted(set(names))
    return (
        "describe_instance_types",
        {
            "InstanceTypes": [
                {"InstanceType": name, "VCpuInfo": {"DefaultVCpus": VCPUS[name]}} for name in wanted
            ]
        },
        {"Filters": [{"Name": "instance-type", "Values": wanted}]},
    )


def ec2(stub: Stub, *running: tuple[str, bool], counted: tuple[str, ...] | None = None) -> Ec2:
    """Answer with instances that run, each with whether it is spot; None: nobody asks."""
    calls = [types("p4d.24xlarge")]
    if counted is not None:
        instances = [
            {"InstanceType": name, **({"InstanceLifecycle": "spot"} if is_spot else {})}
            for name, is_spot in running
        ]
        states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        calls.append(
            (
                "describe_instances",
                {"Reservations": [{"Instances": instances}]},
                {"Filters": states},
            )
        )
        if counted:
            calls.append(types(*counted))
    return Ec2(stub("ec2", *calls))


def check(
    service_quotas: ServiceQuotas, ec2_: Ec2, group: WorkerGroup, workers: int
) -> VcpuQuotaSuffices:
    return VcpuQuotaSuffices(service_quotas, ec2_, group, REGION, "p4d.24xlarge", workers)


def test_what_fits_exactly_passes(stub: Stub, make_group: MakeGroup) -> None:
    found = check(quotas(stub, ACCELERATED, 192), ec2(stub, counted=()), make_group(), 2)
    assert codes_of(found) == []


def test_more_than_the_quota_says_how_much(stub: Stub, make_group: MakeGroup) -> None:
    found = check(quotas(stub, ACCELERATED, 128), ec2(stub), make_group(), 2)
    finding = only_finding_of(found, "quota-too-small")
    assert finding.severity == "error"
    assert finding.message == (
        f'quota "{P}" is 128 vCPUs in us-east-1, and 2 x p4d.24xlarge are 192 (96 each). '
        "Ask for more: aws service-quotas request-service-quota-increase --service-code ec2 "
        f"--quota-code {ACCELERATED.code} --desired-value 192 --region us-east-1, or take fewer "
        "workers"
    )


def test_what_runs_of_the_same_quota_leaves_less(stub: Stub, make_group: MakeGroup) -> None:
    running = (("p3.16xlarge", False), ("p4d.24xlarge", False), ("p5.48xlarge", True))
    seen = ec2(stub, *running, ("g5.xlarge", False), counted=("p3.16xlarge", "p4d.24xlarge"))
    # One of the workers is there already.
    found = check(quotas(stub, ACCELERATED, 300), seen, make_group(1), 3)
    finding = only_finding_of(found, "quota-in-use")
    assert finding.severity == "warning"
    assert (
        "is 300 vCPUs in us-east-1, of which running instances use 160: 2 more x p4d.24xlarge are "
        "192, and do not come until others have ended"
    ) in finding.message
    assert f"--quota-code {ACCELERATED.code} --desired-value 352 " in finding.message


def test_spot_has_a_quota_of_its_own(stub: Stub, make_group: MakeGroup) -> None:
    group = make_group(InstanceMarketOptions={"MarketType": "spot"})
    seen = ec2(stub, ("p4d.24xlarge", False), ("p3.16xlarge", True), counted=("p3.16xlarge",))
    found = check(quotas(stub, SPOT_P4, 200), seen, group, 2)
    finding = only_finding_of(found, "quota-in-use")
    assert f'quota "{SPOT_P4.name}" is 200 vCPUs' in finding.message
    assert "running instances use 64" in finding.message


def test_workers_that_are_there_need_no_quota(make_group: MakeGroup) -> None:
    assert codes_of(check(ServiceQuotas(None), Ec2(None), make_group(2), 2)) == []


def test_a_quota_that_nobody_knows_is_told(stub: Stub, make_group: MakeGroup) -> None:
    found = check(quotas(stub, ACCELERATED, None), ec2(stub), make_group(), 1)
    assert only_finding_of(found, "quota-unknown").severity == "warning"


def test_a_type_without_a_quota_that_aws_names_is_told(stub: Stub, make_group: MakeGroup) -> None:
    group = make_group(InstanceMarketOptions={"MarketType": "spot"})
    names = ["p6-b200.48xlarge"]
    described = {"InstanceTypes": [{"InstanceType": names[0], "VCpuInfo": {"DefaultVCpus": 192}}]}
    request = {"Filters": [{"Name": "instance-type", "Values": names}]}
    seen = Ec2(stub("ec2", ("describe_instance_types", described, request)))
    found = VcpuQuotaSuffices(ServiceQuotas(None), seen, group, REGION, names[0], 1)
    assert "how many p6-b200.48xlarge the account may run in us-east-1 is not known" in (
        only_finding_of(found, "quota-unknown").message
    )
