"""A bucket that exists already."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    IDENTITY,
    REGION,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.iam import Iam
from training.aws.s3 import S3
from training.preflight.stacks.bucket import BucketIsFit, LogBucketIsThere
from training.preflight.stacks.bucket_link import ON_BUCKET, ON_OBJECTS, BucketCanBeLinked
from training.preflight.stacks.deployer import Deployer

NAME = "training-data"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"


def make(aws: Clients, *, key: str | None = KEY, versioned: bool = True, block: int = 4) -> None:
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=NAME)
    default = (
        {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key} if key else {"SSEAlgorithm": "AES256"}
    )
    s3.put_bucket_encryption(
        Bucket=NAME,
        ServerSideEncryptionConfiguration={
            "Rules": [{"ApplyServerSideEncryptionByDefault": default}]
        },
    )
    if versioned:
        s3.put_bucket_versioning(Bucket=NAME, VersioningConfiguration={"Status": "Enabled"})
    names = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    if block:
        s3.put_public_access_block(
            Bucket=NAME,
            PublicAccessBlockConfiguration={name: n < block for n, name in enumerate(names)},
        )


def fit(s3: S3, *, key_arn: str | None = KEY, bucket: str = NAME) -> BucketIsFit:
    return BucketIsFit(s3=s3, bucket=bucket, account=ACCOUNT, region=REGION, key_arn=key_arn)


def test_a_bucket_that_is_guarded_passes(aws: Clients) -> None:
    make(aws)
    assert codes_of(fit(aws.s3)) == []


def test_one_that_is_not_there_is_an_error(aws: Clients) -> None:
    finding = only_finding_of(fit(aws.s3, bucket="nothing-there"), "bucket-missing")
    assert finding.path == "bucket_name"


def test_a_bucket_of_another_region_says_where_it_is(aws: Clients) -> None:
    aws.boto("s3").create_bucket(
        Bucket=NAME, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    finding = only_finding_of(fit(aws.s3), "bucket-in-another-region")
    assert "is in eu-west-1, but the stacks go to us-east-1" in finding.message


def head(*answers: dict[str, Any] | str) -> list[tuple[str, dict[str, Any] | str, dict[str, Any]]]:
    requests = [{"Bucket": NAME}, {"Bucket": NAME, "ExpectedBucketOwner": ACCOUNT}]
    return [
        ("head_bucket", answer, request) for answer, request in zip(answers, requests, strict=False)
    ]


def test_a_bucket_that_lets_nobody_in_is_an_error(stub: Stub) -> None:
    s3 = S3(stub("s3", *head("403: Forbidden")))
    assert codes_of(fit(s3)) == ["bucket-forbidden"]


def test_a_bucket_of_another_account_is_an_error(stub: Stub) -> None:
    s3 = S3(stub("s3", *head({"BucketRegion": REGION}, "403: Forbidden")))
    finding = only_finding_of(fit(s3), "bucket-of-another-account")
    assert f"does not belong to account {ACCOUNT}" in finding.message


def test_a_bucket_that_keeps_no_versions_is_a_warning_with_the_command(aws: Clients) -> None:
    make(aws, versioned=False)
    finding = only_finding_of(fit(aws.s3), "bucket-not-versioned")
    assert finding.severity == "warning"
    assert f"put-bucket-versioning --bucket {NAME}" in finding.message


@pytest.mark.parametrize("block", [0, 3])
def test_a_bucket_that_could_be_made_public_is_a_warning(aws: Clients, block: int) -> None:
    make(aws, block=block)
    assert only_finding_of(fit(aws.s3), "bucket-not-blocked").severity == "warning"


@pytest.mark.parametrize(
    ("key", "setting", "code"),
    [
        (None, None, "bucket-not-encrypted-with-kms"),
        (None, KEY, "bucket-key-differs"),
        (KEY.replace("1234", "4321"), KEY, "bucket-key-differs"),
        (KEY, None, "bucket-key-differs"),
    ],
)
def test_the_key_has_to_be_the_one_that_the_settings_name(
    aws: Clients, key: str | None, setting: str | None, code: str
) -> None:
    make(aws, key=key)
    assert codes_of(fit(aws.s3, key_arn=setting)) == [code]


@pytest.mark.parametrize("key", ["alias/aws/s3", f"arn:aws:kms:{REGION}:{ACCOUNT}:alias/aws/s3"])
def test_the_key_that_aws_manages_for_s3_needs_no_setting(aws: Clients, key: str) -> None:
    make(aws, key=key)
    assert codes_of(fit(aws.s3, key_arn=None)) == []


def logs(s3: S3, bucket: str) -> LogBucketIsThere:
    return LogBucketIsThere(s3=s3, bucket=bucket, account=ACCOUNT, region=REGION)


def test_a_bucket_for_logs_has_to_be_there_and_not_under_a_key_of_kms(aws: Clients) -> None:
    assert "is not there" in only_finding_of(logs(aws.s3, "nothing"), "log-bucket-unfit").message
    make(aws)
    assert "with KMS" in only_finding_of(logs(aws.s3, NAME), "log-bucket-unfit").message


def test_a_bucket_for_logs_has_to_be_beside_the_other(aws: Clients) -> None:
    make(aws, key=None)
    assert codes_of(logs(aws.s3, NAME)) == []
    elsewhere = "elsewhere"
    aws.boto("s3").create_bucket(
        Bucket=elsewhere, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    finding = only_finding_of(logs(aws.s3, elsewhere), "log-bucket-unfit")
    assert "is in eu-west-1, not in us-east-1" in finding.message


CFN_ROLE = f"cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"


def simulation(actions: tuple[str, ...], resource: str, *denied: str) -> Any:
    request = {
        "PolicySourceArn": IDENTITY.arn,
        "ActionNames": list(actions),
        "ResourceArns": [resource],
        "ContextEntries": [],
    }
    results = [
        {
            "EvalActionName": action,
            "EvalDecision": "implicitDeny" if action in denied else "allowed",
        }
        for action in actions
    ]
    return ("simulate_principal_policy", {"EvaluationResults": results}, request)


NO_ROLE: Any = ("get_role", "NoSuchEntity", {"RoleName": CFN_ROLE})


def link(
    stub: Stub,
    *statements: dict[str, Any],
    denied: tuple[str, ...] = (),
    prefix: str | None = None,
) -> BucketCanBeLinked:
    bucket = f"arn:aws:s3:::{NAME}"
    calls = [
        NO_ROLE,
        simulation(ON_BUCKET, bucket, *denied),
        NO_ROLE,
        simulation(ON_OBJECTS, f"{bucket}/{prefix}/*" if prefix else f"{bucket}/*", *denied),
        *([NO_ROLE] if denied else []),
    ]
    document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    policy: dict[str, Any] | str = {"Policy": document} if statements else "NoSuchBucketPolicy"
    s3 = S3(stub("s3", ("get_bucket_policy", policy, {"Bucket": NAME})))
    deployer = Deployer(Iam(stub("iam", *calls)), IDENTITY, REGION, "hnb659fds")
    return BucketCanBeLinked(s3=s3, deployer=deployer, bucket=NAME, prefix=prefix)


@pytest.mark.parametrize("prefix", [None, "ml-platform"])
def test_a_deployer_who_may_do_all_that_a_link_needs_passes(stub: Stub, prefix: str | None) -> None:
    assert codes_of(link(stub, prefix=prefix)) == []


def test_missing_actions_are_named_with_bucket_and_deployer(stub: Stub) -> None:
    check = link(stub, denied=("s3:GetBucketAcl", "s3:PutObject"), prefix="ml")
    finding = only_finding_of(check, "bucket-link-not-permitted")
    assert f"{IDENTITY.arn}, which deploys, may not" in finding.message
    assert f"s3:GetBucketAcl on arn:aws:s3:::{NAME} and not s3:PutObject on" in finding.message
    assert f"arn:aws:s3:::{NAME}/ml/*" in finding.message
    assert "fsx_bucket_link=none" in finding.message


def deny(action: Any = "s3:*", principal: Any = "*", **more: Any) -> dict[str, Any]:
    body = {"Sid": "Closed", "Effect": "Deny", "Principal": principal, "Action": action}
    return body | {"Resource": "*"} | more


@pytest.mark.parametrize(
    "statement",
    [
        {**deny(), "Effect": "Allow"},
        deny(Condition={"Bool": {"aws:SecureTransport": "false"}}),
        deny(Condition={"NumericLessThan": {"s3:TlsVersion": "1.2"}}),
        deny("s3:DeleteBucket"),
        deny(principal={"AWS": "arn:aws:iam::123456789012:user/somebody-else"}),
    ],
)
def test_a_bucket_policy_that_does_not_concern_fsx_passes(
    stub: Stub, statement: dict[str, Any]
) -> None:
    assert codes_of(link(stub, statement)) == []


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (deny(), "denies all that a link needs to everyone (Closed)"),
        (deny("s3:PutObject"), "denies s3:PutObject to everyone"),
        (deny(principal={"AWS": ACCOUNT}), "denies all that a link needs"),
        (deny(principal={"AWS": f"arn:aws:iam::{ACCOUNT}:root"}), "denies all that a link needs"),
        (
            {
                "Effect": "Deny",
                "NotPrincipal": {"AWS": "arn:aws:iam::1:root"},
                "NotAction": "s3:DeleteBucket",
                "Resource": "*",
            },
            "denies all that a link needs",
        ),
    ],
)
def test_a_bucket_policy_that_shuts_fsx_out_is_an_error(
    stub: Stub, statement: dict[str, Any], what: str
) -> None:
    finding = only_finding_of(link(stub, statement), "bucket-policy-denies-link")
    assert what in finding.message
    assert "role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/*" in finding.message


@pytest.mark.parametrize(
    "condition",
    [
        {"StringNotEquals": {"aws:SourceVpce": "vpce-1"}},
        {"StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"}},
        {"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::1:role/Jobs"}},
    ],
)
def test_a_bucket_policy_that_depends_is_a_warning_that_says_on_what(
    stub: Stub, condition: dict[str, Any]
) -> None:
    finding = only_finding_of(link(stub, deny(Condition=condition)), "bucket-policy-may-deny-link")
    assert finding.severity == "warning"
    (key,) = next(iter(condition.values()))
    assert f"depending on {key.lower()} (Closed)" in finding.message


def test_findings_of_policy_and_deployer_come_together(stub: Stub) -> None:
    codes = [found.code for found in findings_of(link(stub, deny(), denied=("s3:GetObject",)))]
    assert codes == ["bucket-policy-denies-link", "bucket-link-not-permitted"]
