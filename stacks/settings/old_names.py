"""What a parameter of the templates that this app replaces is called now.

docs/migration.md has the same with values and reasons; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping

NOW: Mapping[str, tuple[str, ...]] = {
    # cfn-sm.yaml and stack-sm.sh
    "VpcCIDR": ("vpc_cidr",),
    "PublicSubnetCIDR": ("public_subnet_cidrs",),
    "PrivateSubnet1CIDR": ("private_subnet_cidrs",),
    "PrivateSubnet2CIDR": ("private_subnet_cidrs",),
    "PrivateSubnet3CIDR": ("private_subnet_cidrs",),
    "EbsVolumeSize": ("notebook_volume_gib",),
    "NotebookInstanceType": ("notebook_instance_type",),
    "NotebookInstanceName": ("notebook_name",),
    "NOTEBOOK_INSTANCE_NAME": ("notebook_name",),
    "EFSFileSystemId": ("efs_id",),
    "EFS_ID": ("efs_id",),
    "EFSSharedDir": (),
    "EFSMountPoint": (),
    "FSxMountPoint": (),
    "FSxStorageCapacityGiB": ("fsx_capacity_gib",),
    "FSxS3ImportPrefix": ("bucket_prefix",),
    "S3BucketName": ("bucket_name",),
    "S3_BUCKET": ("bucket_name",),
    "GitHubRepoUrl": ("notebook_git_repository",),
    "GIT_URL": ("notebook_git_repository",),
    "GitHubRepoBranch": ("notebook_git_branch",),
    "GIT_BRANCH": ("notebook_git_branch",),
    "GitHubUsername": ("notebook_git_secret_arn",),
    "GitHubToken": ("notebook_git_secret_arn",),
    "GIT_USER": ("notebook_git_secret_arn",),
    "GIT_TOKEN": ("notebook_git_secret_arn",),
    "CodeRepoName": (),
    "CODE_REPO_NAME": (),
    "AWS_REGION": ("aws_region",),
    "STACK_NAME": (),
    # cfn-fsx.yaml and stack-fsx.sh
    "SubnetId": ("fsx_zone",),
    "SecurityGroupId": (),
    "StorageCapacityGiB": ("fsx_capacity_gib",),
    "S3ImportPath": ("bucket_name", "bucket_prefix", "fsx_bucket_link"),
    # mask-rcnn-cfn.yaml and private-mask-rcnn-cfn.yaml
    "MyVpcCIDR": ("vpc_cidr",),
    "MyAvailabilityZone": ("availability_zones",),
    "PrivateSubnetCIDR": ("private_subnet_cidrs",),
    "MyVpcId": ("vpc_id",),
    "PrivateSubnetId": ("private_subnets",),
    "S3Bucket": ("bucket_name",),
    "SSHLocation": ("cluster_ssh_location",),
    "SSH_LOCATION": ("cluster_ssh_location",),
    "KeyName": ("cluster_key_name",),
    "KEY_NAME": ("cluster_key_name",),
    "InstanceType": ("cluster_worker_instance_type", "cluster_head_instance_type"),
    "WorkerCount": ("cluster_workers", "cluster_max_workers"),
    "ImageType": ("cluster_ami",),
    "AMIOverride": ("cluster_ami",),
    # The Terraform variables of the EKS sample
    "azs": ("availability_zones",),
    "cidr_vpc": ("vpc_cidr",),
    "cidr_private": ("private_subnet_cidrs",),
    "cidr_public": ("public_subnet_cidrs",),
    "efs_performance_mode": (),
    "import_path": ("bucket_name", "bucket_prefix"),
    "fsx_storage_capacity": ("fsx_capacity_gib",),
    "cidr_subnet": ("private_subnet_cidrs",),
    "k8s_version": ("eks_version",),
    "cuda_efa_az": ("eks_zone",),
    "key_pair": (),
    "nodegroup_name": (),
    "node_instances": ("eks_gpu_instance_type",),
    "node_instance_type": ("eks_gpu_instance_type",),
    "node_volume_size": ("eks_volume_gib",),
    "node_group_desired": (),
    "node_group_min": (),
    "node_group_max": ("eks_max_nodes",),
    "capacity_type": ("eks_spot",),
    "efa_enabled": ("eks_efa",),
    "system_instances": ("eks_system_instance_type",),
    "system_volume_size": ("eks_volume_gib",),
    "system_group_desired": ("eks_system_nodes",),
    "system_group_min": ("eks_system_nodes",),
    "system_group_max": ("eks_system_nodes",),
    "system_capacity_type": (),
    "custom_taints": (),
    "karpenter_enabled": (),
    "kubeflow_namespace": (),
    "nvidia_plugin_version": (),
}
"""Old name to context keys; to none where nothing has to be said any more."""

_BY_FOLDED_NAME = {name.casefold(): keys for name, keys in NOW.items()}


def advice_for(key: str) -> str | None:
    """Say what an old parameter has become; None for what never was one."""
    keys = _BY_FOLDED_NAME.get(key.casefold())
    if keys is None:
        return None
    if not keys:
        return "it is of the old templates, and nothing replaces it: leave it out"
    return f"it is of the old templates and is {' and '.join(keys)} now (docs/migration.md)"
