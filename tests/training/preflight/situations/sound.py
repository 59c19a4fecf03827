"""What the stacks would have made, all of it as it should be."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.conftest import claim
from tests.training.preflight.job.eks.conftest import named, served, volume, workload
from tests.training.preflight.situations.account import ACCOUNT, REGION, Account
from training.data.manifest import Manifest
from training.layout import TRAIN_PATH

ZONES = tuple(f"{REGION}{letter}" for letter in "abc")

WORKER = "p4d.24xlarge"
"""Of all nodes with GPUs."""

_MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
    "config": {"digest": f"sha256:{'1' * 64}"},
    "layers": [],
}

ALGORITHMS = {
    "Horovod": "horovod",
    "Tensorpack": "tensorpack",
    "AwsSamples": "aws-samples",
    "Tf2Smddp": "tf2-smddp",
}
"""By the beginning of the output's name."""

FILES = (
    "annotations/instances_train2017.json",
    "annotations/instances_val2017.json",
    "train2017/1.jpg",
    "val2017/2.jpg",
    "train2017-0.tfrecord",
    "val2017-0.tfrecord",
    "pretrained-models/ImageNet-R50-AlignPadding.npz",
    "pretrained-models/resnet-nhwc-2018-02-07/checkpoint",
    "manifest.json",
)


@dataclass
class Base:
    """The account and what is in it, by the names that situations break them by."""

    account: Account
    kubernetes: KubernetesServer
    """What answers for the EKS cluster."""
    mark: str
    vpc: str = ""
    gateway: str = ""
    subnets: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    """Subnets of 11 addresses, one in each zone."""
    tables: tuple[str, ...] = ()
    private_subnets: str = ""
    """As the setting names them, with zone and route table."""
    endpoint: str = ""
    jobs: str = ""
    """The security group of jobs."""
    targets: str = ""
    """That of EFS's mount targets."""
    servers: str = ""
    """That of FSx."""
    bucket: str = ""
    key: str = ""
    role: str = ""
    efs: str = ""
    mount_targets: tuple[str, ...] = ()
    fsx: str = ""
    mount_name: str = ""
    link: str = ""
    head: str = ""
    """The head node of the EC2 cluster."""
    repositories: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    """By algorithm, as are their repositories."""
    stacks: dict[str, dict[str, str]] = field(default_factory=dict)
    """Their outputs."""

    def boto(self, service: str) -> Any:
        return self.account.boto(service)

    @property
    def zones(self) -> tuple[str, ...]:
        return tuple(f"{self.account.region}{letter}" for letter in "abc")

    @property
    def key_id(self) -> str:
        return self.key.rpartition("/")[2]

    def find_head(self) -> None:
        """Take note of the head node: its group may have made another."""
        (group,) = self.boto("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[f"head-{self.mark}"]
        )["AutoScalingGroups"]
        self.head = group["Instances"][0]["InstanceId"]

    def told(self, stack: str, **outputs: str) -> None:
        """Let a stack's outputs say something else until the test is over."""
        put_stack(self, stack, self.stacks[stack] | outputs)
        self.account.undo.callback(put_stack, self, stack, self.stacks[stack])


def make_base(account: Account, kubernetes: KubernetesServer) -> Base:
    base = Base(account, kubernetes, uuid4().hex[:8])
    make_network(base)
    make_storage(base)
    _make_images(base)
    _make_cluster(base)
    _make_kubernetes(base)
    base.stacks = _outputs(base)
    for name, outputs in base.stacks.items():
        put_stack(base, name, outputs)
    return base


def make_network(base: Base) -> None:
    ec2 = base.boto("ec2")
    base.vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=base.vpc, EnableDnsHostnames={"Value": True})
    base.gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=base.gateway, VpcId=base.vpc)
    public = ec2.create_subnet(
        VpcId=base.vpc, CidrBlock="10.0.9.0/24", AvailabilityZone=base.zones[0]
    )["Subnet"]["SubnetId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=public, AllocationId=address)["NatGateway"]
    subnets, tables = [], []
    for number, zone in enumerate(base.zones):
        subnet = ec2.create_subnet(
            VpcId=base.vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone
        )["Subnet"]["SubnetId"]
        table = ec2.create_route_table(VpcId=base.vpc)["RouteTable"]["RouteTableId"]
        ec2.create_route(
            RouteTableId=table,
            DestinationCidrBlock="0.0.0.0/0",
            NatGatewayId=nat["NatGatewayId"],
        )
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
        subnets.append(subnet)
        tables.append(table)
    base.subnets, base.tables = tuple(subnets), tuple(tables)
    base.small = tuple(
        ec2.create_subnet(
            VpcId=base.vpc, CidrBlock=f"10.0.8.{16 * number}/28", AvailabilityZone=zone
        )["Subnet"]["SubnetId"]
        for number, zone in enumerate(base.zones)
    )
    for subnet, table in zip(base.small, tables, strict=True):
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    base.endpoint = ec2.create_vpc_endpoint(
        VpcId=base.vpc,
        ServiceName=f"com.amazonaws.{base.account.region}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=tables,
    )["VpcEndpoint"]["VpcEndpointId"]
    base.jobs, base.targets, base.servers = (
        ec2.create_security_group(GroupName=f"{name}-{base.mark}", Description="-", VpcId=base.vpc)[
            "GroupId"
        ]
        for name in ("jobs", "targets", "servers")
    )
    for group, peer in (
        (base.jobs, base.jobs),
        (base.targets, base.jobs),
        (base.servers, base.jobs),
        (base.jobs, base.servers),
    ):
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=everything(peer))
    ec2.authorize_security_group_egress(GroupId=base.jobs, IpPermissions=everything(base.jobs))


def everything(peer: str) -> list[dict[str, Any]]:
    """Return the rule that lets all traffic of a group pass."""
    return [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer}]}]


def make_storage(base: Base) -> None:
    account = base.account
    s3, efs, fsx = base.boto("s3"), base.boto("efs"), base.boto("fsx")
    base.bucket = f"situations-{base.mark}"
    s3.create_bucket(
        Bucket=base.bucket, CreateBucketConfiguration={"LocationConstraint": base.account.region}
    )
    for name in FILES:
        body = Manifest.of([]).to_bytes() if name == "manifest.json" else b""
        s3.put_object(Bucket=base.bucket, Key=f"{TRAIN_PATH}/{name}", Body=body)
    base.key = account.boto("kms").create_key()["KeyMetadata"]["Arn"]
    role = base.boto("iam").create_role(
        RoleName=f"jobs-{base.mark}", AssumeRolePolicyDocument=trust("sagemaker")
    )
    base.role = role["Role"]["Arn"]
    base.efs = efs.create_file_system(CreationToken=base.mark, Encrypted=True)["FileSystemId"]
    base.mount_targets = tuple(
        efs.create_mount_target(
            FileSystemId=base.efs, SubnetId=subnet, SecurityGroups=[base.targets]
        )["MountTargetId"]
        for subnet in base.subnets
    )
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[base.subnets[1]],
        SecurityGroupIds=[base.servers],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )["FileSystem"]
    base.fsx, base.mount_name = made["FileSystemId"], made["LustreConfiguration"]["MountName"]
    base.link = fsx.create_data_repository_association(
        FileSystemId=base.fsx,
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{base.bucket}",
    )["Association"]["AssociationId"]


def trust(service: str) -> str:
    """Return the policy that lets a service run as a role."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _make_images(base: Base) -> None:
    ecr = base.boto("ecr")
    for algorithm in ALGORITHMS.values():
        name = f"situations-{base.mark}/{algorithm}"
        made = ecr.create_repository(repositoryName=name)["repository"]
        ecr.put_image(repositoryName=name, imageManifest=json.dumps(_MANIFEST), imageTag="1")
        base.repositories[algorithm] = made["repositoryUri"]
        base.images[algorithm] = f"{made['repositoryUri']}:1"


def _make_cluster(base: Base) -> None:
    ec2, groups = base.boto("ec2"), base.boto("autoscaling")
    image = ec2.register_image(Name=f"nodes-{base.mark}", RootDeviceName="/dev/sda1")["ImageId"]
    for kind, instance_type, size, most in (
        ("head", "m6i.xlarge", 1, 1),
        ("workers", WORKER, 0, 4),
    ):
        data: dict[str, Any] = {"ImageId": image, "InstanceType": instance_type}
        if kind == "workers":
            data["NetworkInterfaces"] = [{"DeviceIndex": 0, "InterfaceType": "efa"}]
        template = ec2.create_launch_template(
            LaunchTemplateName=f"{kind}-{base.mark}", LaunchTemplateData=data
        )["LaunchTemplate"]["LaunchTemplateId"]
        groups.create_auto_scaling_group(
            AutoScalingGroupName=f"{kind}-{base.mark}",
            LaunchTemplate={"LaunchTemplateId": template, "Version": "1"},
            **{"MinSize": 0, "MaxSize": most, "DesiredCapacity": size},
            VPCZoneIdentifier=base.subnets[1],
        )
    base.find_head()
    base.boto("ssm").create_document(
        Name=f"request-{base.mark}",
        DocumentType="Command",
        Content=json.dumps({"schemaVersion": "2.2", "description": "-", "mainSteps": []}),
    )
    base.boto("logs").create_log_group(logGroupName=f"/cluster-{base.mark}")


def _make_kubernetes(base: Base) -> None:
    eks = base.boto("eks")
    role = f"arn:aws:iam::{ACCOUNT}:role/eks"
    _install(base)
    name = f"eks-{base.mark}"
    eks.create_cluster(
        name=name, version="1.35", roleArn=role, resourcesVpcConfig={"subnetIds": [*base.subnets]}
    )
    eks.create_nodegroup(
        clusterName=name,
        nodegroupName="gpu",
        subnets=[base.subnets[1]],
        nodeRole=role,
        instanceTypes=[WORKER],
        scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 0},
    )
    for addon in (
        *("vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent"),
        *("aws-efs-csi-driver", "aws-fsx-csi-driver"),
    ):
        eks.create_addon(clusterName=name, addonName=addon)


def _install(base: Base) -> None:
    """Put into the cluster what `python -m training.kubernetes install` puts there."""
    cluster = base.kubernetes
    cluster.put(served("v2beta1"))
    for name, kind in (
        ("mpi-operator", "Deployment"),
        ("nvidia-device-plugin", "DaemonSet"),
        ("aws-efa-k8s-device-plugin", "DaemonSet"),
    ):
        cluster.put(workload(name, kind))
    cluster.put(named("ServiceAccount", "mask-rcnn"))
    for name, file_system in (("mask-rcnn-efs", base.efs), ("mask-rcnn-fsx", base.fsx)):
        cluster.put({**claim(name), "status": {"phase": "Bound"}})
        cluster.put(volume(name, file_system))


def _outputs(base: Base) -> dict[str, dict[str, str]]:
    region = base.account.region
    mark, role = base.mark, f"arn:aws:iam::{ACCOUNT}:role/of-nodes"
    return {
        "NetworkStack": {
            "Project": "mask-rcnn",
            "VpcId": base.vpc,
            "PrivateSubnetIds": ",".join(base.subnets),
            "AvailabilityZones": ",".join(base.zones),
            "TrainingSecurityGroupId": base.jobs,
        },
        "StorageStack": {
            "BucketName": base.bucket,
            "EncryptionKeyArn": base.key,
            "EfsId": base.efs,
            "EfsSecurityGroupId": base.targets,
            "TrainingRoleArn": base.role,
            "FsxId": base.fsx,
            "FsxMountName": base.mount_name,
            "FsxDnsName": f"{base.fsx}.fsx.{base.account.region}.amazonaws.com",
            "FsxSubnetId": base.subnets[1],
            "FsxAvailabilityZone": base.zones[1],
            "FsxSecurityGroupId": base.servers,
            "FsxDataPath": "/data",
        },
        "RegistryStack": {
            f"{name}RepositoryUri": base.repositories[algorithm]
            for name, algorithm in ALGORITHMS.items()
        },
        "ClusterStack": {
            "ClusterName": "mask-rcnn",
            "HeadGroupName": f"head-{mark}",
            "WorkerGroupName": f"workers-{mark}",
            "HeadInstanceType": "m6i.xlarge",
            "WorkerInstanceType": WORKER,
            "MostWorkers": "4",
            "RunsIn": "image",
            "DocumentName": f"request-{mark}",
            "LogGroupName": f"/cluster-{mark}",
            "KeySecretArn": f"arn:aws:secretsmanager:{region}:{ACCOUNT}:secret:keys-abcdef",
            "Zone": base.zones[1],
            "EfsMount": "/efs",
            "FsxMount": "/fsx",
            "HeadRoleArn": role,
            "WorkerRoleArn": role,
            "Spot": "false",
        },
        "KubernetesStack": {
            "ClusterName": f"eks-{mark}",
            "ClusterArn": f"arn:aws:eks:{base.account.region}:{ACCOUNT}:cluster/eks-{mark}",
            "ApiAccess": "public",
            "KubernetesVersion": "1.35",
            "Namespace": "kubeflow",
            "ServiceAccount": "mask-rcnn",
            "GpuNodeGroup": "gpu",
            "GpuInstanceType": WORKER,
            "MostGpuNodes": "4",
            "GpuVolumeGib": "200",
            "GpuZones": base.zones[1],
            "EfsAccessPointId": "fsap-0123456789abcdef0",
            "Efa": "true",
            "Spot": "false",
            "SystemInstanceType": "m6i.large",
            "SystemNodes": "2",
            "AutoscalerRoleArn": role,
            "JobRoleArn": role,
            "NodeRoleArn": role,
            "LogGroupName": f"/aws/eks/eks-{mark}/cluster",
        },
    }


def put_stack(base: Base, name: str, outputs: dict[str, str], **metadata: Any) -> None:
    """Make a stack with outputs, or give it others."""
    cloudformation = base.boto("cloudformation")
    template = {
        "Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
        "Outputs": {key: {"Value": value} for key, value in outputs.items()},
        "Metadata": metadata,
    }
    there = {each["StackName"] for each in cloudformation.describe_stacks()["Stacks"]}
    ask = cloudformation.update_stack if name in there else cloudformation.create_stack
    ask(StackName=name, TemplateBody=json.dumps(template))
    deadline = time.monotonic() + 20
    while True:
        (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
        if found["StackStatus"].endswith("_COMPLETE"):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
