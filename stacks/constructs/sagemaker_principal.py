"""SageMaker as the one who takes a role."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

SAGEMAKER = "sagemaker.amazonaws.com"
"""The same name in every partition."""


def sagemaker_of_this_account(*, only: str | None = None) -> iam.IPrincipal:
    """Return the service, for what it does on behalf of this account alone.

    Without such a condition another account could have the service use our role (the confused
    deputy): https://docs.aws.amazon.com/sagemaker/latest/dg/security-confused-deputy-prevention.html

    Args:
        only: The kind of resource for which SageMaker takes the role, such as `training-job`. That
            page gives the source's ARN for some kinds, notebook instances not among them.
    """
    conditions: dict[str, object] = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
    if only:
        arn = f"arn:{Aws.PARTITION}:sagemaker:{Aws.REGION}:{Aws.ACCOUNT_ID}:{only}/*"
        conditions["ArnLike"] = {"aws:SourceArn": arn}
    return iam.PrincipalWithConditions(iam.ServicePrincipal(SAGEMAKER), conditions)
