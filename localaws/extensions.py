"""Puts what moto lacks in its place.

moto makes one backend object a service, account and region, from a class that each service's
`BackendDict` holds; our subclasses take their place there. It finds a service's request handlers
in a table of paths, and CloudFormation's resource classes in a map of types.
"""

from __future__ import annotations

from pathlib import Path

from moto.autoscaling import models as autoscaling_models
from moto.autoscaling import urls as autoscaling_urls
from moto.autoscaling.models import autoscaling_backends
from moto.cloudformation import parsing
from moto.cloudformation import urls as cloudformation_urls
from moto.cloudformation.models import cloudformation_backends
from moto.codebuild import urls as codebuild_urls
from moto.codebuild.models import codebuild_backends
from moto.datasync import urls as datasync_urls
from moto.datasync.models import datasync_backends
from moto.ec2 import urls as ec2_urls
from moto.ec2.models import ec2_backends
from moto.ecr.models import ecr_backends
from moto.efs import urls as efs_urls
from moto.efs.models import efs_backends
from moto.eks import urls as eks_urls
from moto.eks.models import eks_backends
from moto.fsx import urls as fsx_urls
from moto.fsx.models import fsx_backends
from moto.logs import urls as logs_urls
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import FakeBucket, s3_backends
from moto.sagemaker import urls as sagemaker_urls
from moto.sagemaker.models import sagemaker_backends
from moto.ssm import urls as ssm_urls
from moto.ssm.models import ssm_backends

from localaws import bucket_policies, file_systems
from localaws.autoscaling.backend import GroupBackend
from localaws.autoscaling.group import Group
from localaws.autoscaling.responses import GroupResponse
from localaws.cloudformation import aws, resources
from localaws.cloudformation.backend import StackBackend
from localaws.cloudformation.responses import StackResponse
from localaws.codebuild.backend import RunningCodeBuildBackend
from localaws.codebuild.responses import BuildResponse
from localaws.container_registry import RegistryBackend
from localaws.datasync.backend import CopyingBackend
from localaws.datasync.responses import CopyingResponse
from localaws.ec2.responses import InstanceResponse
from localaws.eks.backend import KubernetesBackend
from localaws.eks.responses import PATHS as KUBERNETES_PATHS
from localaws.eks.responses import KubernetesResponse
from localaws.elastic_file_systems import (
    PROTECTION_PATH,
    ElasticFileSystemBackend,
    ElasticFileSystemResponse,
)
from localaws.fsx.auto_import import FollowedS3Backend
from localaws.fsx.backend import LustreBackend
from localaws.fsx.responses import LustreResponse
from localaws.hosts.instances import HostBackend
from localaws.log_groups import LogGroupResponse
from localaws.sagemaker.backend import SageMakerBackend
from localaws.sagemaker.responses import SageMakerOperations
from localaws.ssm.backend import CommandBackend
from localaws.ssm.responses import CommandResponse


def install(endpoint: str, file_systems_root: Path) -> DomainDispatcherApplication:
    """Extend moto and return its server's WSGI application.

    Args:
        endpoint: Where the application will be served: CloudFormation makes resources by calling
            the services' APIs.
        file_systems_root: The folder that will hold one folder for each file system.
    """
    file_systems.use(file_systems_root)
    aws.use_endpoint(endpoint)
    autoscaling_backends.backend = GroupBackend
    autoscaling_urls.url_paths["{0}/$"] = GroupResponse.dispatch
    # moto makes its groups of this very class.
    autoscaling_models.FakeAutoScalingGroup = Group  # type: ignore[misc, assignment]
    cloudformation_backends.backend = StackBackend
    cloudformation_urls.url_paths["{0}/$"] = StackResponse.dispatch
    codebuild_backends.backend = RunningCodeBuildBackend
    codebuild_urls.url_paths["{0}/$"] = BuildResponse.dispatch
    datasync_backends.backend = CopyingBackend
    datasync_urls.url_paths["{0}/$"] = CopyingResponse.dispatch
    ec2_backends.backend = HostBackend
    ecr_backends.backend = RegistryBackend
    efs_backends.backend = ElasticFileSystemBackend
    eks_backends.backend = KubernetesBackend
    fsx_backends.backend = LustreBackend
    s3_backends.backend = FollowedS3Backend
    sagemaker_backends.backend = SageMakerBackend
    ssm_backends.backend = CommandBackend
    # moto makes its buckets of this very class, so that no subclass can take its place.
    FakeBucket.get_permission = bucket_policies.judge  # type: ignore[method-assign, assignment]
    FakeBucket._log_permissions_enabled_policy = staticmethod(  # type: ignore[method-assign]
        bucket_policies.may_take_logs
    )
    ec2_urls.url_paths["{0}/"] = InstanceResponse.dispatch
    efs_response = ElasticFileSystemResponse()
    efs_urls.url_paths.update(
        dict.fromkeys([*efs_urls.url_paths, PROTECTION_PATH], efs_response.dispatch)
    )
    eks_urls.url_paths.update(
        dict.fromkeys([*eks_urls.url_paths, *KUBERNETES_PATHS], KubernetesResponse.dispatch)
    )
    fsx_urls.url_paths["{0}/$"] = LustreResponse.dispatch
    logs_urls.url_paths["{0}/$"] = LogGroupResponse.dispatch
    sagemaker_urls.url_paths["{0}/$"] = SageMakerOperations.dispatch
    ssm_urls.url_paths["{0}/$"] = CommandResponse.dispatch
    parsing.get_model_map().update(resources.by_type())
    return DomainDispatcherApplication(create_backend_app)
