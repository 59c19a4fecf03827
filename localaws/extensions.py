"""Puts what moto lacks in its place.

moto makes one backend object a service, account and region, from a class that each service's
`BackendDict` holds; our subclasses take their place there. It finds a service's request handlers
in a table of paths, and CloudFormation's resource classes in a map of types.
"""

from __future__ import annotations

from pathlib import Path

from moto.cloudformation import parsing
from moto.cloudformation import urls as cloudformation_urls
from moto.cloudformation.models import cloudformation_backends
from moto.codebuild import urls as codebuild_urls
from moto.codebuild.models import codebuild_backends
from moto.ec2 import urls as ec2_urls
from moto.ec2.models import ec2_backends
from moto.ecr.models import ecr_backends
from moto.efs import urls as efs_urls
from moto.efs.models import efs_backends
from moto.fsx import urls as fsx_urls
from moto.fsx.models import fsx_backends
from moto.logs import urls as logs_urls
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import FakeBucket, s3_backends
from moto.sagemaker import urls as sagemaker_urls
from moto.sagemaker.models import sagemaker_backends

from localaws import bucket_policies, file_systems
from localaws.cloudformation import aws, resources
from localaws.cloudformation.backend import StackBackend
from localaws.cloudformation.responses import StackResponse
from localaws.codebuild.backend import RunningCodeBuildBackend
from localaws.codebuild.responses import BuildResponse
from localaws.container_registry import RegistryBackend
from localaws.elastic_file_systems import (
    PROTECTION_PATH,
    ElasticFileSystemBackend,
    ElasticFileSystemResponse,
)
from localaws.fsx.auto_import import FollowedS3Backend
from localaws.fsx.backend import LustreBackend
from localaws.fsx.responses import LustreResponse
from localaws.log_groups import LogGroupResponse
from localaws.sagemaker.backend import SageMakerBackend
from localaws.sagemaker.responses import SageMakerOperations
from localaws.vpc_endpoints import EndpointBackend, EndpointResponse


def install(endpoint: str, file_systems_root: Path) -> DomainDispatcherApplication:
    """Extend moto and return its server's WSGI application.

    Args:
        endpoint: Where the application will be served: CloudFormation makes resources by calling
            the services' APIs.
        file_systems_root: The folder that will hold one folder for each file system.
    """
    file_systems.use(file_systems_root)
    aws.use_endpoint(endpoint)
    cloudformation_backends.backend = StackBackend
    cloudformation_urls.url_paths["{0}/$"] = StackResponse.dispatch
    codebuild_backends.backend = RunningCodeBuildBackend
    codebuild_urls.url_paths["{0}/$"] = BuildResponse.dispatch
    ec2_backends.backend = EndpointBackend
    ecr_backends.backend = RegistryBackend
    efs_backends.backend = ElasticFileSystemBackend
    fsx_backends.backend = LustreBackend
    s3_backends.backend = FollowedS3Backend
    sagemaker_backends.backend = SageMakerBackend
    # moto makes its buckets of this very class, so that no subclass can take its place.
    FakeBucket.get_permission = bucket_policies.judge  # type: ignore[method-assign, assignment]
    FakeBucket._log_permissions_enabled_policy = staticmethod(  # type: ignore[method-assign]
        bucket_policies.may_take_logs
    )
    ec2_urls.url_paths["{0}/"] = EndpointResponse.dispatch
    efs_response = ElasticFileSystemResponse()
    efs_urls.url_paths.update(
        dict.fromkeys([*efs_urls.url_paths, PROTECTION_PATH], efs_response.dispatch)
    )
    fsx_urls.url_paths["{0}/$"] = LustreResponse.dispatch
    logs_urls.url_paths["{0}/$"] = LogGroupResponse.dispatch
    sagemaker_urls.url_paths["{0}/$"] = SageMakerOperations.dispatch
    parsing.get_model_map().update(resources.by_type())
    return DomainDispatcherApplication(create_backend_app)
