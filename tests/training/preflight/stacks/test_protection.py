"""Protection against deletion."""

from __future__ import annotations

from tests.training.preflight.stacks.conftest import Stub, codes_of, only_finding_of
from tests.training.preflight.stacks.test_deployed_settings import described, missing
from training.aws.cloudformation import CloudFormation
from training.preflight.stacks.protection import ProtectionStays


def test_stacks_that_would_lose_it_are_named(stub: Stub) -> None:
    method, answer, request = described("B", "CREATE_COMPLETE")
    assert isinstance(answer, dict)
    answer["Stacks"][0]["EnableTerminationProtection"] = True
    calls = (described("A", "CREATE_COMPLETE"), (method, answer, request), missing("C"))
    check = ProtectionStays(CloudFormation(stub("cloudformation", *calls)), ["A", "B", "C"])
    finding = only_finding_of(check, "protection-dropped")
    assert finding.message.startswith("B cannot be deleted by mistake now")


def test_none_that_has_it_loses_it(stub: Stub) -> None:
    client = stub("cloudformation", described("A", "CREATE_COMPLETE"))
    assert codes_of(ProtectionStays(CloudFormation(client), ["A"])) == []
