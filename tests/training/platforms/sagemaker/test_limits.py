"""What SageMaker would refuse is refused here, with place, value and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from tests.training.platforms.sagemaker.planning import ACCOUNT, body, outputs
from tests.training.platforms.sagemaker.service_model import complaints
from training.errors import UsageError
from training.job import Job, JobSpec
from training.platforms.sagemaker.container import hyperparameters

PLAN_ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/mine-1"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"limits__max_run_s": 2_419_201},
            "limits.max_run_s: 2419201: SageMaker runs a job for at most 2419200 seconds (28 days)",
        ),
        (
            {"spot__max_wait_s": 500_000},
            "spot.max_wait_s: 500000: only a job on spot capacity waits",
        ),
        (
            {"spot__enabled": True, "spot__max_wait_s": 399_999},
            "spot.max_wait_s: 399999: it counts waiting and running together, so it must be at "
            "least limits.max_run_s, 400000",
        ),
        ({"spot__enabled": True, "spot__max_wait_s": 2**31 - 1}, None),
        (
            {"spot__enabled": True, "spot__max_wait_s": 2**31},
            "spot.max_wait_s: 2147483648: SageMaker takes at most 2147483647",
        ),
        (
            {"sagemaker__preparation_instance_type": "m5; rm"},
            "sagemaker.preparation_instance_type: 'm5; rm': string should match pattern",
        ),
        (
            {"spot__enabled": True, "sagemaker__keep_alive_s": 60},
            "sagemaker.keep_alive_s: 60: SageMaker keeps no warm pool of spot instances",
        ),
        (
            {"spot__enabled": True, "sagemaker__training_plan_arn": PLAN_ARN},
            "sagemaker.training_plan_arn: a training plan is capacity that is paid for already",
        ),
        (
            {"sagemaker__keep_alive_s": 3601},
            "sagemaker.keep_alive_s: 3601: input should be less than or equal to 3600",
        ),
        (
            {"sagemaker__training_plan_arn": "mine"},
            "sagemaker.training_plan_arn: 'mine': string should match pattern",
        ),
        ({"sagemaker__experiment": "a_b"}, "sagemaker.experiment: 'a_b': string should match"),
        ({"sagemaker__volume_gib": 16385}, "sagemaker.volume_gib: 16385: input should be less"),
        ({"retries": 31}, "retries: 31: input should be less than or equal to 30"),
        ({"name": "a" * 64}, "name: 'aaa"),
        ({"name": "-a"}, "name: '-a': expected 1 to 63 letters of English, digits"),
        ({"name": "a_b"}, "name: 'a_b': expected 1 to 63 letters of English, digits"),
        (
            {"instances__type": "ml.p4d.25xlarge"},
            "instances.type: instance type ml.p4d.25xlarge: no GPU instance type of that name. "
            "Did you mean p4d.24xlarge",
        ),
        (
            {"instances__type": "g4dn.metal"},
            "instances.type: instance type g4dn.metal: SageMaker does not train on it",
        ),
        (
            {"instances__type": "ml.trn1.32xlarge"},
            "instances.type: instance type ml.trn1.32xlarge: AWS Trainium is no GPU",
        ),
        (
            {"instances__type": "p4d.24xlarge", "instances__processes_per_instance": 9},
            "instances.processes_per_instance: 9: ml.p4d.24xlarge has 8 GPU(s)",
        ),
        (
            {"sagemaker__network_isolation": True},
            "sagemaker.network_isolation: hyperparameters.backbone_weights is 'torchvision'",
        ),
        ({"image": "a b"}, "image: 'a b': expected registry/repository:tag"),
        ({"image": "tag\n/x"}, "image: 'tag\\n/x': expected registry/repository:tag"),
        ({"image": "r/" + "x" * 254}, "at most 255 characters"),
        (
            {"hyperparameters__load_model": "x" * 2501},
            f"hyperparameters.load_model: {'x' * 40}…: 2501 characters as text; SageMaker takes at "
            "most 2500",
        ),
        # A line break counts two characters, and the quotes two more.
        (
            {"hyperparameters__load_model": "x" * 2496 + "\n"},
            None,
        ),
        (
            {"hyperparameters__load_model": "x" * 2497 + "\ny"},
            "2502 characters as text",
        ),
        ({"environment": {"A": "x" * 512}}, None),
        (
            {"environment": {"A": "x" * 513}},
            "environment.A: 513 characters; SageMaker takes at most",
        ),
        ({"environment": {"A B": "x"}}, "environment: 'A B': the name of a variable has letters"),
        ({"environment": {"1A": "x"}}, "environment: '1A': the name of a variable"),
        ({"environment": {"": "x"}}, "environment: '': the name of a variable"),
        ({"environment": {"A\n": "x"}}, "environment: 'A\\n': the name of a variable"),
        ({"environment": {f"A{n}": "" for n in range(93)}}, None),
        (
            {"environment": {f"A{n}": "" for n in range(94)}},
            "environment: 94 variables; SageMaker takes 100, of which this leaves 93",
        ),
        (
            {"environment": {"MASK_RCNN_LOG": "/"}},
            "environment.MASK_RCNN_LOG: this variable is not",
        ),
        ({"environment": {"SM_HOSTS": ""}}, "environment.SM_HOSTS: this variable is not yours"),
        (
            {"environment": {"SAGEMAKER_PROGRAM": ""}},
            "environment.SAGEMAKER_PROGRAM: this variable",
        ),
        ({"environment": {"AWS_PROFILE": ""}}, "environment.AWS_PROFILE: this variable is not"),
        ({"environment": {"OMPI_MCA_btl": ""}}, "environment.OMPI_MCA_btl: this variable is not"),
        ({"environment": {"LD_PRELOAD": ""}}, "environment.LD_PRELOAD: this variable is not yours"),
        ({"environment": {"PATH": ""}}, "nor be PATH, LD_PRELOAD"),
        ({"tags": {"a": "x" * 256}}, None),
        ({"tags": {"a": "x" * 257}}, "tags.a: the value has 257 characters; a key has 1 to 128"),
        ({"tags": {"x" * 129: ""}}, "the key has 129 characters"),
        ({"tags": {"": "x"}}, "the key has 0 characters"),
        ({"tags": {"a": "b!"}}, "tags.a: '!' in the value 'b!': letters, digits, spaces and"),
        ({"tags": {"a\n": "b"}}, "'\\n' in the key"),
        ({"tags": {"Кто": "größer 模型"}}, None),
        ({"tags": {"Project": "other"}}, "tags.Project: this tag is not yours to set"),
        ({"tags": {"Job": "other"}}, "tags.Job: this tag is not yours to set"),
        ({"tags": {"AWS:x": ""}}, "tags.AWS:x: this tag is not yours to set"),
        ({"tags": {f"k{n}": "" for n in range(48)}}, None),
        ({"tags": {f"k{n}": "" for n in range(49)}}, "tags: 49 tags; SageMaker takes 50, of which"),
    ],
)
def test_a_limit_is_named_with_place_value_and_what_is_allowed(
    overrides: dict[str, Any], message: str | None
) -> None:
    if message is None:
        assert complaints(body(**overrides)) == []
        return
    with pytest.raises(UsageError) as raised:
        body(**overrides)
    assert message in str(raised.value)


class Many(BaseModel):
    """Hyperparameters of any name."""

    model_config = ConfigDict(extra="allow")


def texts(values: dict[str, Any]) -> dict[str, str]:
    return hyperparameters(Job(JobSpec(), Many(**values)))


def test_as_many_hyperparameters_as_sagemaker_takes_are_sent_and_no_more() -> None:
    assert len(texts({f"h{number}": number for number in range(100)})) == 100
    with pytest.raises(UsageError, match=r"hyperparameters: 101 of them, with those at their"):
        texts({f"h{number}": number for number in range(101)})


def test_a_name_of_a_hyperparameter_is_as_long_as_sagemaker_takes_and_no_longer() -> None:
    assert texts({"h" * 256: 1}) == {"h" * 256: "1"}
    with pytest.raises(UsageError, match=r"a name of 257 characters; SageMaker takes at most 256"):
        texts({"h" * 257: 1})


def test_fsx_that_is_not_there_is_refused_with_what_to_do() -> None:
    without = dict.fromkeys(
        (
            "FsxId", "FsxMountName", "FsxDnsName", "FsxSubnetId", "FsxAvailabilityZone",
            "FsxSecurityGroupId", "FsxDataPath",
        )
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"data_source: fsx: StorageStack has no FSx"):
        body(stacks=outputs(**without), data_source="fsx")
