"""Other instance types: those that the job's zones have, the cheapest GPU first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import REGION, Stub, only_finding_of
from training.aws.ec2 import Ec2
from training.aws.s3 import S3
from training.job import read_job
from training.preflight.job.alternatives import Alternatives, alternatives_of
from training.preflight.job.instance_type import TypeIsOffered
from training.preflight.job.measured import Measured, Reading
from training.prices.cache import write_cached
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING, PriceList

ZONE = f"{REGION}a"
PRICES = {"ml.p4d.24xlarge": 24.0, "ml.g5.xlarge": 1.5, "ml.g5.12xlarge": 8.0, "ml.g6.xlarge": 1.2}


def make(
    stub: Stub,
    tmp_path: Path,
    offers: Mapping[str, Sequence[str]] | str,
    *,
    names: Sequence[str] = (*PRICES, "ml.g6e.xlarge"),
    paces: Sequence[Measured] = (),
) -> Alternatives:
    """Return types, of which EC2 offers some: name to zones, or the code of its refusal."""
    answer: Any = offers
    if not isinstance(offers, str):
        pairs = [
            {"InstanceType": name, "Location": zone}
            for name, zones in offers.items()
            for zone in zones
        ]
        answer = {"InstanceTypeOfferings": pairs}
    client = stub("ec2", ("describe_instance_type_offerings", answer, None))
    cache = tmp_path / "prices"
    for service, prefix in ((SAGEMAKER_TRAINING, "ml."), (EC2_ON_DEMAND, "")):
        prices = {f"{prefix}{name.removeprefix('ml.')}": usd for name, usd in PRICES.items()}
        listed = PriceList(
            service=service,
            region=REGION,
            as_of=date(2099, 1, 1),
            source="the tests",
            complete=True,
            usd_per_hour=prices,
        )
        write_cached(cache, listed)
    return Alternatives(
        Ec2(client),
        names=names,
        service=SAGEMAKER_TRAINING,
        region=REGION,
        cache=cache,
        subnet_ids=(),
        paces=lambda: paces,
    )


def measured_on(name: str, speed: float, *, instances: int = 1, processes: int = 4) -> Measured:
    """Return what a job has measured that left its log in `s3://bucket/log-<speed>`."""
    return Measured(
        instance_type=name,
        instances=instances,
        world_size=processes,
        readings=[Reading(1, 0.1, speed, None)],
        is_elastic=False,
        place=f"s3://bucket/log-{speed:g}",
    )


def everywhere(*names: str) -> dict[str, list[str]]:
    return {name: [ZONE] for name in names}


def test_the_cheapest_gpu_is_first_and_a_price_that_is_not_known_last(
    stub: Stub, tmp_path: Path
) -> None:
    offers = everywhere("p4d.24xlarge", "g5.xlarge", "g5.12xlarge", "g6.xlarge", "g6e.xlarge")
    # Per GPU: p4d has eight of them, g5.12xlarge four.
    assert make(stub, tmp_path, offers).said(without="ml.p3.16xlarge", zones=[ZONE]) == (
        ". Others that the job's zones have, by the price of a GPU hour on demand: ml.g6.xlarge "
        "1.20 USD, ml.g5.xlarge 1.50 USD, ml.g5.12xlarge 2.00 USD, ml.p4d.24xlarge 3.00 USD; at a "
        "price that is not known here: ml.g6e.xlarge"
    )


def test_types_that_were_measured_come_first_by_what_a_picture_costs(
    stub: Stub, tmp_path: Path
) -> None:
    offers = everywhere("p4d.24xlarge", "g5.xlarge", "g5.12xlarge", "g6.xlarge", "g6e.xlarge")
    paces = [
        # 16 USD an hour for two of them: 40,000 s for a million pictures are 177.78 USD.
        measured_on("ml.g5.12xlarge", 25, instances=2, processes=8),
        # An older one counts no more.
        measured_on("ml.g5.12xlarge", 400),
        # 24 USD an hour; EC2's machines are SageMaker's: 4,000 s are 26.67 USD.
        measured_on("p4d.24xlarge", 250, processes=8),
        # Without a price, and not to be had.
        measured_on("ml.g6e.xlarge", 90),
        measured_on("ml.p3.16xlarge", 90),
    ]
    found = make(stub, tmp_path, offers, paces=paces)
    assert found.said(without="ml.p3.16xlarge", zones=[ZONE]) == (
        ". Others that the job's zones have, by the price on demand of a million pictures, as "
        "measured: ml.p4d.24xlarge 26.67 USD (31.2 a second on each GPU of 1 instance, "
        "s3://bucket/log-250), ml.g5.12xlarge 177.78 USD (3.12 a second on each GPU of 2 "
        "instances, s3://bucket/log-25); by the price of a GPU hour on demand: ml.g6.xlarge 1.20 "
        "USD, ml.g5.xlarge 1.50 USD; at a price that is not known here: ml.g6e.xlarge"
    )


def test_measured_types_leave_no_room_for_more_than_five(stub: Stub, tmp_path: Path) -> None:
    names = [f"g5.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "12xlarge")]
    listed = [*names, "g6.xlarge", "p4d.24xlarge", "g6e.xlarge"]
    found = make(
        stub,
        tmp_path,
        everywhere(*listed),
        names=[f"ml.{name}" for name in listed],
        paces=[measured_on(f"ml.{name}", 10) for name in listed],
    )
    said = found.said(without="-", zones=[ZONE])
    # Those without a price are not ranked: of seven three have one and were measured.
    assert said.count("ml.") == 5
    assert said.index("ml.g6.xlarge") < said.index("ml.g5.xlarge") < said.index("ml.g5.12xlarge")


def test_nobody_is_asked_for_paces_where_no_other_type_is_named(stub: Stub, tmp_path: Path) -> None:
    found = make(stub, tmp_path, {"g5.xlarge": [f"{REGION}b"]})
    asked = replace(found, paces=lambda: pytest.fail("earlier jobs are read"))
    assert asked.said(without="-", zones=[ZONE]) == ""


def test_what_other_zones_have_is_not_named(stub: Stub, tmp_path: Path) -> None:
    offers = {"g5.xlarge": [f"{REGION}b"], "g6.xlarge": [f"{REGION}b", ZONE]}
    said = make(stub, tmp_path, offers).said(without="ml.p3.16xlarge", zones=[ZONE])
    assert said.endswith("demand: ml.g6.xlarge 1.20 USD")
    assert "g5" not in said


def test_the_type_itself_is_no_alternative(stub: Stub, tmp_path: Path) -> None:
    found = make(stub, tmp_path, {}, names=["ml.g5.xlarge", "ml.g6.xlarge"])
    asked: list[str] = []
    client: Any = found.ec2

    class Recording:
        def zones_offering_each(self, types: Mapping[str, str]) -> dict[str, set[str]]:
            asked.extend(types)
            return client.zones_offering_each(types)  # type: ignore[no-any-return]

    recording: Any = Recording()
    assert replace(found, ec2=recording).said(without="ml.g6.xlarge", zones=[ZONE]) == ""
    assert asked == ["g5.xlarge"]


def test_another_test_leaves_some_out(stub: Stub, tmp_path: Path) -> None:
    found = make(stub, tmp_path, everywhere("g5.xlarge", "g6.xlarge"))
    said = found.said(
        without="-", zones=[ZONE], among=lambda names: [n for n in names if "g5" in n]
    )
    assert said.endswith("demand: ml.g5.xlarge 1.50 USD")


def test_at_most_five_are_named(stub: Stub, tmp_path: Path) -> None:
    sizes = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge", "24xlarge", "48xlarge")
    names = [f"g6e.{size}" for size in sizes]
    found = make(stub, tmp_path, everywhere(*names), names=[f"ml.{name}" for name in names])
    said = found.said(without="-", zones=[ZONE])
    assert said.count("ml.") == 5
    assert said.endswith("ml.g6e.16xlarge and others")


def test_a_refusal_keeps_no_finding_back(stub: Stub, tmp_path: Path) -> None:
    found = make(stub, tmp_path, "UnauthorizedOperation")
    assert found.said(without="-", zones=[ZONE]) == ""


def test_a_type_that_is_not_offered_comes_with_others(stub: Stub, tmp_path: Path) -> None:
    none = ("describe_instance_type_offerings", {"InstanceTypeOfferings": []}, None)
    subnets = {"Subnets": [{"SubnetId": "subnet-1", "AvailabilityZone": ZONE}]}
    ec2 = Ec2(stub("ec2", none, ("describe_subnets", subnets, None)))
    others = make(stub, tmp_path, everywhere("g5.xlarge"))
    check = TypeIsOffered(
        ec2,
        "ml.p3.16xlarge",
        ["subnet-1"],
        REGION,
        alternatives=replace(others, ec2=ec2, subnet_ids=["subnet-1"]),
    )
    message = only_finding_of(check, "instance-type-not-in-region").message
    assert message.endswith("hour on demand: ml.g5.xlarge 1.50 USD")


@pytest.mark.parametrize(
    ("overrides", "first", "left_out"),
    [
        ({"platform": "sagemaker"}, "ml.g4dn.xlarge", "ml.p3.16xlarge"),
        ({"platform": "sagemaker", "algorithm": "tensorpack"}, "ml.p3.2xlarge", "ml.p4d.24xlarge"),
        ({"platform": "ec2"}, "p4d.24xlarge", "p3.16xlarge"),
        ({"platform": "eks"}, "gr6.8xlarge", "p6e-gb200.36xlarge"),
        (
            {"platform": "sagemaker", "sagemaker.distribution": "smddp"},
            "ml.p4de.24xlarge",
            "ml.p5.48xlarge",
        ),
    ],
)
def test_types_are_those_that_the_algorithm_runs_on(
    overrides: dict[str, Any], first: str, left_out: str
) -> None:
    job = read_job(None, overrides)
    found = alternatives_of(job, Ec2(None), S3(None), region=REGION, bucket="logs")
    assert first in found.names
    assert left_out not in found.names
    assert found.service == (
        SAGEMAKER_TRAINING if overrides["platform"] == "sagemaker" else EC2_ON_DEMAND
    )
