"""What the roles of jobs and of the notebook may do: what the code does, no more and no less."""

from __future__ import annotations

import pytest

from stacks.constructs.notebook_scripts import ON_START
from tests.stacks.matrix import MATRIX, Synthesize, Template, properties, resources
from tests.stacks.permissions.actions import actions_of, exists, takes_a_resource
from tests.stacks.permissions.calls import (
    Operation,
    operations_in_scripts,
    operations_of_the_notebook,
)
from tests.stacks.permissions.expected import (
    AWAITED,
    DOCKER,
    IN_A_JOB,
    JOB,
    NOTEBOOK,
    WITHHELD,
    WITHOUT_RESOURCE,
)
from tests.stacks.statements import Statement, statements

every_row = pytest.mark.parametrize("row", MATRIX)

ROLE_POLICIES = ("StorageStack/Training", "NotebookStack/Access")


@pytest.fixture
def called() -> frozenset[Operation]:
    return operations_of_the_notebook()


def allowed(synth: Synthesize, row: str, where: str) -> list[Statement]:
    """Return the statements of the policies of one role."""
    return [
        each
        for each in statements(synth(row))
        if each.where.startswith(where) and each.resource_type == "AWS::IAM::ManagedPolicy"
    ]


def actions(found: list[Statement]) -> set[str]:
    return {action for each in found for action in each.actions}


def test_notebook_may_do_what_launch_data_and_images_call_and_nothing_else(
    called: frozenset[Operation], synth: Synthesize
) -> None:
    needed = actions_of(called | operations_in_scripts(ON_START.parent))
    needed |= {*AWAITED, *DOCKER, *NOTEBOOK}
    needed -= set(WITHHELD)
    has = actions(allowed(synth, "notebook-with-git", "NotebookStack/Access"))
    assert has - needed == set(), "nothing calls these"
    assert needed - has == set(), "these are called, and refused"


def test_what_is_withheld_is_called(called: frozenset[Operation]) -> None:
    assert set(WITHHELD) <= actions_of(called)


def test_what_is_called_is_awaited_no_more(called: frozenset[Operation]) -> None:
    assert actions_of(called) & {*AWAITED, *DOCKER, *NOTEBOOK} == set()


def test_jobs_may_do_what_our_code_calls_in_them_and_what_sagemaker_does_for_them(
    called: frozenset[Operation], synth: Synthesize
) -> None:
    needed = actions_of(each for each in called if each[0] in IN_A_JOB) | set(JOB)
    needed -= set(WITHHELD)
    assert actions(allowed(synth, "default", "StorageStack/Training")) == needed


def test_without_a_secret_the_notebook_reads_none(synth: Synthesize) -> None:
    has = actions(allowed(synth, "default", "NotebookStack/Access"))
    assert "secretsmanager:GetSecretValue" not in has


@every_row
@pytest.mark.parametrize("where", ROLE_POLICIES)
def test_actions_exist_and_have_a_resource_where_iam_knows_one(
    where: str, row: str, synth: Synthesize
) -> None:
    found = allowed(synth, row, where)
    assert found
    for each in found:
        for action in each.actions:
            assert exists(action), action
            if "*" in each.resources and action not in WITHOUT_RESOURCE:
                assert not takes_a_resource(action), f"{each.where}: {action} on *"


@every_row
def test_only_sagemaker_of_this_account_takes_the_roles(row: str, synth: Synthesize) -> None:
    templates = synth(row).templates
    [job] = roles(templates["StorageStack"], "SageMaker training jobs of distributed Mask R-CNN")
    [notebook] = roles(templates["NotebookStack"], "The notebook of distributed Mask R-CNN")
    for role, source in ((job, ":training-job/*"), (notebook, None)):
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": "sagemaker.amazonaws.com"}
        assert set(statement["Condition"]["StringEquals"]) == {"aws:SourceAccount"}
        if source:
            assert source in str(statement["Condition"]["ArnLike"]["aws:SourceArn"])


def roles(template: Template, description: str) -> list[dict[str, object]]:
    return [
        role
        for role in properties(template, "AWS::IAM::Role")
        if role.get("Description") == description
    ]


def test_jobs_join_no_other_vpc(synth: Synthesize) -> None:
    found = [
        each
        for each in allowed(synth, "existing-vpc", "StorageStack/Training")
        if "NetworkInterface" in str(each.actions) and "ec2:DescribeVpcs" not in each.actions
    ]
    # EC2 knows the VPC of one that is not there yet by its subnet and its groups only.
    [new] = [each for each in found if not each.conditions]
    assert new.actions == ("ec2:CreateNetworkInterface",)
    assert ["network-interface/*" in str(arn) for arn in new.resources] == [True]
    found.remove(new)
    assert len(found) == 2
    for each in found:
        [vpc] = each.conditions["ArnLike"].values()
        assert "vpc/vpc-0123456789abcdef0" in str(vpc)
        if "ec2:CreateNetworkInterface" in each.actions:
            assert "network-interface/" not in str(each.resources)


@pytest.mark.parametrize(
    ("action", "conditions"),
    [
        ("CreateTrainingJob", {"aws:RequestTag/Project"}),
        ("AddTags", {"aws:RequestTag/Project", "sagemaker:TaggingAction"}),
        ("DescribeTrainingJob", {"aws:ResourceTag/Project"}),
        ("StopTrainingJob", {"aws:ResourceTag/Project"}),
    ],
)
def test_the_notebook_has_to_do_with_jobs_of_its_project_alone(
    action: str, conditions: set[str], synth: Synthesize
) -> None:
    row = "governed"
    [allowing] = [
        each
        for each in allowed(synth, row, "NotebookStack/Access")
        if f"sagemaker:{action}" in each.actions and "training-job/" in str(each.resources)
    ]
    equals = dict(allowing.conditions["StringEquals"])
    assert set(equals) == conditions
    # A tag is put on a job that is being made, and on no other.
    assert equals.pop("sagemaker:TaggingAction", "CreateTrainingJob") == "CreateTrainingJob"
    assert list(equals.values()) == [MATRIX[row]["project"]]


def test_the_notebook_hands_over_the_training_role_alone(synth: Synthesize) -> None:
    [passing] = [
        each
        for each in allowed(synth, "default", "NotebookStack/Access")
        if "iam:PassRole" in each.actions
    ]
    [role] = passing.resources
    assert "StorageStack" in str(role)
    assert "*" not in str(role)
    assert passing.conditions == {
        "StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}
    }


def test_the_notebook_stops_itself_and_no_other(synth: Synthesize) -> None:
    [stopping] = [
        each
        for each in allowed(synth, "notebook-with-git", "NotebookStack/Access")
        if "sagemaker:StopNotebookInstance" in each.actions
    ]
    assert stopping.actions == ("sagemaker:StopNotebookInstance",)
    [arn] = stopping.resources
    assert str(arn).endswith("':notebook-instance/vision']]}")


def test_a_prefix_holds_both_roles_to_its_folder(synth: Synthesize) -> None:
    for where in ROLE_POLICIES:
        on_objects, on_bucket = [], []
        for each in allowed(synth, "existing-bucket", where):
            # Beside it, sources of images are put into a bucket of their own.
            if {"s3:GetObject", "s3:PutObject"} <= set(each.actions):
                on_objects.append(each)
            if "s3:ListBucket" in each.actions:
                on_bucket.append(each)
        [objects], [bucket] = on_objects, on_bucket
        assert [str(arn).endswith("/ml-platform/*']]}") for arn in objects.resources] == [True]
        assert bucket.conditions == {"StringLike": {"s3:prefix": ["ml-platform", "ml-platform/*"]}}


def test_nobody_deletes_objects(synth: Synthesize) -> None:
    for row in MATRIX:
        for where in ROLE_POLICIES:
            assert not [
                a for a in actions(allowed(synth, row, where)) if "Delete" in a and "s3" in a
            ]


def test_the_key_of_an_existing_bucket_may_be_used(synth: Synthesize) -> None:
    key = MATRIX["existing-bucket"]["bucket_encryption_key_arn"]
    for where in ROLE_POLICIES:
        [using] = [
            each
            for each in allowed(synth, "existing-bucket", where)
            if "kms:Decrypt" in each.actions and key in each.resources
        ]
        assert using.resources == (key,)


def test_every_policy_is_of_a_role_that_is_there(synth: Synthesize) -> None:
    for stack in ("StorageStack", "NotebookStack"):
        template = synth("default").templates[stack]
        for policy in properties(template, "AWS::IAM::ManagedPolicy"):
            [role] = policy["Roles"]
            assert role["Ref"] in resources(template, "AWS::IAM::Role")


def test_the_notebook_is_root_on_efs_by_its_role_only_where_nobody_else_is(
    synth: Synthesize,
) -> None:
    root = "elasticfilesystem:ClientRootAccess"
    assert root in actions(allowed(synth, "provisioned-efs", "NotebookStack/Access"))
    assert root not in actions(allowed(synth, "default", "NotebookStack/Access"))


def test_without_fsx_nobody_looks_for_it(synth: Synthesize) -> None:
    for where in ROLE_POLICIES:
        assert "fsx:DescribeFileSystems" not in actions(allowed(synth, "no-fsx", where))


def test_experiments_are_made_with_the_projects_tag_alone(synth: Synthesize) -> None:
    row = "governed"
    found = [
        each
        for each in allowed(synth, row, "NotebookStack/Access")
        if "experiment/" in str(each.resources)
    ]
    assert [each.actions for each in found] == [
        ("sagemaker:CreateExperiment",),
        ("sagemaker:AddTags",),
    ]
    for each in found:
        equals = dict(each.conditions["StringEquals"])
        assert equals["aws:RequestTag/Project"] == MATRIX[row]["project"]
        assert equals.get("sagemaker:TaggingAction", "CreateExperiment") == "CreateExperiment"


def test_policies_of_two_roles_are_evaluated_and_of_no_others(synth: Synthesize) -> None:
    [looking] = [
        each
        for each in allowed(synth, "default", "NotebookStack/Access")
        if "iam:SimulatePrincipalPolicy" in each.actions
    ]
    assert len(looking.resources) == 2
    assert not [arn for arn in looking.resources if "*" in str(arn)]
