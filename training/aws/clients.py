"""The thin clients of a region, each made when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from training.aws.autoscaling import AutoScaling
from training.aws.client import new_client
from training.aws.cloudformation import CloudFormation
from training.aws.codebuild import CodeBuild
from training.aws.ec2 import Ec2
from training.aws.ecr import Ecr
from training.aws.efs import Efs
from training.aws.eks import Eks
from training.aws.fsx import Fsx
from training.aws.iam import Iam
from training.aws.kms import Kms
from training.aws.logs import Logs
from training.aws.s3 import S3
from training.aws.sagemaker import SageMaker
from training.aws.secrets import Secrets
from training.aws.service_quotas import ServiceQuotas
from training.aws.ssm import Ssm
from training.aws.sts import Sts

if TYPE_CHECKING:
    from boto3.session import Session


class Clients:
    """Clients for checks, which would rather hear of a slow service than wait for it."""

    def __init__(
        self, session: Session, region: str | None, *, read_timeout_s: float, attempts: int
    ) -> None:
        self._new: Callable[[str], Any] = lambda service: new_client(
            session, service, region=region, read_timeout_s=read_timeout_s, attempts=attempts
        )
        self._made: dict[str, Any] = {}
        # boto3 makes no two clients at once safely; the clients themselves may be shared.
        self._making = threading.Lock()

    def boto(self, service: str) -> Any:
        """Return boto3's client of a service.

        Raises:
            AwsError: There is no region.
        """
        with self._making:
            if service not in self._made:
                self._made[service] = self._new(service)
            return self._made[service]

    @property
    def region(self) -> str:
        """Where the requests go.

        Raises:
            AwsError: There is no region.
        """
        return str(self.boto("sts").meta.region_name)

    @property
    def autoscaling(self) -> AutoScaling:
        return AutoScaling(self.boto("autoscaling"))

    @property
    def cloudformation(self) -> CloudFormation:
        return CloudFormation(self.boto("cloudformation"))

    @property
    def codebuild(self) -> CodeBuild:
        return CodeBuild(self.boto("codebuild"))

    @property
    def ec2(self) -> Ec2:
        return Ec2(self.boto("ec2"))

    @property
    def ecr(self) -> Ecr:
        return Ecr(self.boto("ecr"))

    @property
    def efs(self) -> Efs:
        return Efs(self.boto("efs"))

    @property
    def eks(self) -> Eks:
        return Eks(self.boto("eks"))

    @property
    def fsx(self) -> Fsx:
        return Fsx(self.boto("fsx"))

    @property
    def iam(self) -> Iam:
        return Iam(self.boto("iam"))

    @property
    def kms(self) -> Kms:
        return Kms(self.boto("kms"))

    @property
    def logs(self) -> Logs:
        return Logs(self.boto("logs"))

    @property
    def s3(self) -> S3:
        return S3(self.boto("s3"))

    @property
    def sagemaker(self) -> SageMaker:
        return SageMaker(self.boto("sagemaker"))

    @property
    def secrets(self) -> Secrets:
        return Secrets(self.boto("secretsmanager"))

    @property
    def service_quotas(self) -> ServiceQuotas:
        return ServiceQuotas(self.boto("service-quotas"))

    @property
    def ssm(self) -> Ssm:
        return Ssm(self.boto("ssm"))

    @property
    def sts(self) -> Sts:
        return Sts(self.boto("sts"))
