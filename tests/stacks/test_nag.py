"""What happens when a check finds something."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

import app
from stacks.acknowledgments import AcceptedFinding, acknowledge
from stacks.nag import read_violations, refuse_violations
from training.errors import PreflightError

# isort: split

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

BAD_BUCKET = "RegistryStack/Bad/Resource"


def app_with_a_bad_bucket(outdir: Path) -> cdk.App:
    bad = app.build_app(outdir=str(outdir))
    s3.Bucket(
        cast(cdk.Stack, bad.node.find_child("RegistryStack")),
        "Bad",
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
    )
    return bad


def test_findings_are_named_by_rule_and_construct(tmp_path: Path) -> None:
    app_with_a_bad_bucket(tmp_path).synth()
    with pytest.raises(PreflightError) as error:
        refuse_violations(tmp_path)
    first, *lines = str(error.value).splitlines()
    assert first.startswith("2 findings in the templates; mend each, or accept it")
    assert [line.strip().split(": ")[:2] for line in lines] == [
        [BAD_BUCKET, "AwsSolutions-S1"],
        [BAD_BUCKET, "AwsSolutions-S10"],
    ]


def test_an_accepted_finding_is_not_reported_and_its_neighbour_is(tmp_path: Path) -> None:
    bad = app_with_a_bad_bucket(tmp_path)
    acknowledge(bad, [AcceptedFinding(path=BAD_BUCKET, rule="AwsSolutions-S1", reason="a test")])
    bad.synth()
    assert [each.rule for each in read_violations(tmp_path)] == ["AwsSolutions-S10"]


def test_accepting_a_finding_of_a_construct_that_is_not_there_is_a_bug(tmp_path: Path) -> None:
    gone = AcceptedFinding(path="RegistryStack/Gone", rule="AwsSolutions-S1", reason="a test")
    with pytest.raises(LookupError, match="no construct at RegistryStack/Gone"):
        acknowledge(app.build_app(outdir=str(tmp_path)), [gone])


def test_app_prints_findings_and_ends_3_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = app_with_a_bad_bucket(tmp_path)
    monkeypatch.setattr(app, "build_app", lambda: bad)
    assert app.main() == 3
    printed = capsys.readouterr().err
    assert f"{BAD_BUCKET}: AwsSolutions-S1: The S3 Bucket has server access logs" in printed
    assert "Traceback" not in printed
