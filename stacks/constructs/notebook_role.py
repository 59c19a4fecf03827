"""What the notebook may do: exactly what launch, data and images call, and nothing else.

tests/stacks/test_roles.py derives the actions from the code and compares, both ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.data_access import may_read_and_write
from stacks.constructs.file_system_access import (
    may_be_channels,
    may_be_root,
    may_move_data,
)
from stacks.constructs.launch_checks import may_check_launches
from stacks.constructs.registry_access import may_push, may_sign_in
from stacks.constructs.sagemaker_principal import SAGEMAKER, sagemaker_of_this_account
from training.outputs import PROJECT_TAG

TRAINING_LOGS = "/aws/sagemaker/TrainingJobs"
NOTEBOOK_LOGS = "/aws/sagemaker/NotebookInstances"
"""https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html"""


class NotebookRole(Construct):
    """The execution role of a notebook instance.

    Attributes:
        role: What the instance's user and its scripts act as.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        notebook_name: str,
        project: str,
        bucket: s3.IBucket,
        key: kms.IKey,
        training_role: iam.IRole,
        repositories: Sequence[ecr.IRepository],
        builds: Sequence[iam.PolicyStatement],
        stack_names: Sequence[str],
        source: iam.PolicyStatement,
        shared: efs.IFileSystem,
        lustre_id: str | None,
        is_root_on_shared: bool,
        git_secret_arn: str | None = None,
        prefix: str | None = None,
    ) -> None:
        """Build it.

        Args:
            notebook_name: The one instance that it may stop.
            project: Whose jobs it may launch, see and stop: the value of the tag on them.
            bucket: Of data, logs and models.
            key: Of what jobs leave.
            training_role: What it may hand to SageMaker, for jobs.
            repositories: Where it pushes images to.
            builds: What lets it have images built elsewhere.
            stack_names: Whose outputs it reads.
            source: What lets it read this project's source.
            shared: EFS, whose folders may be channels of jobs.
            lustre_id: FSx for Lustre, whose folders may be too; None where there is none.
            is_root_on_shared: Whether the instance's root is root on EFS because of this role.
            git_secret_arn: Of the sign-in to a Git repository.
            prefix: What of the bucket it may use; None is all of it.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description="The notebook of distributed Mask R-CNN",
            assumed_by=sagemaker_of_this_account(),
        )
        self._add_policy(
            "Data",
            "Stages, checks and reads data",
            [
                *may_read_and_write(bucket, prefix),
                *(may_move_data(lustre_id) if lustre_id else []),
            ],
        )
        self._add_policy(
            "Launch",
            "Launches, watches and stops jobs",
            [
                _outputs_of(stack_names),
                _role_for_jobs(training_role),
                *_jobs(project),
                *may_be_channels(shared, lustre=lustre_id is not None),
                *_plans(),
            ],
        )
        self._add_policy(
            "Checks",
            "Looks whether a job can run, before it is launched",
            may_check_launches(roles=[self.role, training_role], key=key, shared=shared),
        )
        self._add_policy(
            "Images",
            "Pushes and pulls images, and has them built",
            [may_sign_in(), may_push(repositories), *builds],
        )
        self._add_policy(
            "Instance",
            "Sets the instance up and stops it",
            [
                source,
                _stop(notebook_name),
                _own_logs(),
                *_sign_in(git_secret_arn),
                *([may_be_root(shared)] if is_root_on_shared else []),
            ],
        )

    def _add_policy(
        self, policy_id: str, description: str, statements: Sequence[iam.PolicyStatement]
    ) -> None:
        iam.ManagedPolicy(
            self, policy_id, description=description, roles=[self.role], statements=statements
        )


def _arn(service: str, resource: str) -> str:
    return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"


def _outputs_of(stack_names: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=["cloudformation:DescribeStacks"],
        # A stack's ARN ends in an id that it gets when it is made.
        resources=[_arn("cloudformation", f"stack/{name}/*") for name in stack_names],
    )


def _role_for_jobs(role: iam.IRole) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=["iam:PassRole"],
        resources=[role.role_arn],
        conditions={"StringEquals": {"iam:PassedToService": SAGEMAKER}},
    )


def _jobs(project: str) -> list[iam.PolicyStatement]:
    """Let it launch jobs with the project's tag, and see and stop those that have it.

    Tags are given when a job is made, and only then: who could tag any job could make it the
    project's. A job that is not there has no tag, so that asking for it is refused, not answered.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
    """
    jobs = [_arn("sagemaker", "training-job/*")]  # Jobs are named by their users.
    with_tag = {f"aws:RequestTag/{PROJECT_TAG}": project}
    return [
        iam.PolicyStatement(
            actions=["sagemaker:CreateTrainingJob"],
            resources=jobs,
            conditions={"StringEquals": with_tag},
        ),
        iam.PolicyStatement(
            actions=["sagemaker:AddTags"],
            resources=jobs,
            conditions={
                "StringEquals": {**with_tag, "sagemaker:TaggingAction": "CreateTrainingJob"}
            },
        ),
        iam.PolicyStatement(
            actions=["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"],
            resources=jobs,
            conditions={"StringEquals": {f"aws:ResourceTag/{PROJECT_TAG}": project}},
        ),
        *_experiments(with_tag),
        iam.PolicyStatement(
            actions=["sagemaker:ListTrainingJobs"],
            resources=["*"],  # SageMaker lists all or nothing.
        ),
        iam.PolicyStatement(
            actions=["logs:DescribeLogStreams", "logs:GetLogEvents"],
            resources=[_arn("logs", f"log-group:{TRAINING_LOGS}:*")],
        ),
    ]


def _experiments(with_tag: Mapping[str, str]) -> list[iam.PolicyStatement]:
    """Let it make the experiment that a job names, with the project's tag."""
    experiments = [_arn("sagemaker", "experiment/*")]  # They are named by their users.
    return [
        iam.PolicyStatement(
            actions=["sagemaker:CreateExperiment"],
            resources=experiments,
            conditions={"StringEquals": dict(with_tag)},
        ),
        iam.PolicyStatement(
            actions=["sagemaker:AddTags"],
            resources=experiments,
            conditions={
                "StringEquals": {**with_tag, "sagemaker:TaggingAction": "CreateExperiment"}
            },
        ),
    ]


def _plans() -> list[iam.PolicyStatement]:
    """Return what a plan looks up: is there enough quota, and what would the job cost."""
    return [
        iam.PolicyStatement(
            actions=["pricing:GetProducts", "servicequotas:ListServiceQuotas"],
            resources=["*"],  # Neither service knows a resource for them.
        ),
    ]


def _stop(notebook_name: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=["sagemaker:StopNotebookInstance"],
        resources=[_arn("sagemaker", f"notebook-instance/{notebook_name}")],
    )


def _own_logs() -> iam.PolicyStatement:
    """Let SageMaker keep what the instance and its scripts print."""
    return iam.PolicyStatement(
        actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
        resources=[
            _arn("logs", f"log-group:{NOTEBOOK_LOGS}"),
            _arn("logs", f"log-group:{NOTEBOOK_LOGS}:*"),
        ],
    )


def _sign_in(secret_arn: str | None) -> list[iam.PolicyStatement]:
    if not secret_arn:
        return []
    return [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[secret_arn])]
