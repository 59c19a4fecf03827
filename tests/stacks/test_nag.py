"""What happens when a check finds something."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

import app
from stacks.acknowledgments import ACCEPTED, AcceptedFinding
from stacks.nag import read_violations, refuse_violations
from training.errors import PreflightError

# isort: split

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

BAD_BUCKET = "RegistryStack/Bad/Resource"
BUCKET_RULES = {
    "AwsSolutions-S1",
    "AwsSolutions-S10",
    "NIST.800.53.R5-S3BucketReplicationEnabled",
    "NIST.800.53.R5-S3BucketVersioningEnabled",
    "NIST.800.53.R5-S3DefaultEncryptionKMS",
    "NIST.800.53.R5-S3BucketLoggingEnabled",
    "NIST.800.53.R5-S3BucketSSLRequestsOnly",
}


def app_with_a_bad_bucket(outdir: Path, *accepted: AcceptedFinding) -> cdk.App:
    bad = app.build_app(outdir=str(outdir), accepted=(*ACCEPTED, *accepted))
    s3.Bucket(
        cast(cdk.Stack, bad.node.find_child("RegistryStack")),
        "Bad",
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
    )
    return bad


def accept(rule: str) -> AcceptedFinding:
    return AcceptedFinding(path=BAD_BUCKET, rule=rule, reason="a test")


def test_findings_of_both_packs_are_named_by_rule_and_construct(tmp_path: Path) -> None:
    app_with_a_bad_bucket(tmp_path).synth()
    with pytest.raises(PreflightError) as error:
        refuse_violations(tmp_path)
    first, *lines = str(error.value).splitlines()
    assert first.startswith("7 findings in the templates; mend each, or accept it")
    assert {tuple(line.strip().split(": ")[:2]) for line in lines} == {
        (BAD_BUCKET, rule) for rule in BUCKET_RULES
    }
    assert "Control IDs" not in str(error.value)


def test_an_accepted_finding_is_not_reported_and_its_neighbours_are(tmp_path: Path) -> None:
    app_with_a_bad_bucket(tmp_path, accept("AwsSolutions-S1")).synth()
    assert {each.rule for each in read_violations(tmp_path)} == BUCKET_RULES - {"AwsSolutions-S1"}


def test_a_warning_of_a_pack_is_refused_too(tmp_path: Path) -> None:
    warned = app.build_app(outdir=str(tmp_path))
    network = cast(cdk.Stack, warned.node.find_child("NetworkStack"))
    vpc = ec2.CfnVPC(network, "Second", cidr_block="10.0.0.0/16")
    ec2.CfnFlowLog(network, "Log", resource_id=vpc.ref, resource_type="VPC")
    warned.synth()
    [found] = read_violations(tmp_path)
    assert (found.path, found.rule) == (
        "NetworkStack/Second",
        "NIST.800.53.R5-VPCDefaultSecurityGroupClosed",
    )
    assert found.is_refused


def test_a_warning_of_a_construct_is_left_to_the_cli(tmp_path: Path) -> None:
    warned = app.build_app(outdir=str(tmp_path))
    cdk.Annotations.of(warned.node.find_child("NetworkStack")).add_warning_v2("a-test", "Mind it")
    warned.synth()
    [found] = read_violations(tmp_path)
    assert (found.path, found.is_refused) == ("NetworkStack", False)
    refuse_violations(tmp_path)


def test_anything_in_a_rule_is_any_text_without_a_wildcard() -> None:
    known = accept("AwsSolutions-IAM5[Resource::arn:…:s3:::…/*]")
    rule = "AwsSolutions-IAM5[Resource::{}]"
    assert known.matches(BAD_BUCKET, rule.format("arn:aws-cn:s3:::bucket/prefix/*"))
    assert not known.matches(BAD_BUCKET, rule.format("arn:aws:s3:::*/*"))
    assert not known.matches(BAD_BUCKET, rule.format("*"))
    assert not known.matches("RegistryStack/Good", rule.format("arn:aws:s3:::bucket/*"))


def test_no_finding_is_accepted_twice() -> None:
    assert len({(each.path, each.rule) for each in ACCEPTED}) == len(ACCEPTED)


def test_app_prints_findings_and_ends_3_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = app_with_a_bad_bucket(tmp_path)
    monkeypatch.setattr(app, "build_app", lambda: bad)
    assert app.main() == 3
    printed = capsys.readouterr().err
    assert f"{BAD_BUCKET}: AwsSolutions-S1: The S3 Bucket has server access logs" in printed
    assert "Traceback" not in printed
