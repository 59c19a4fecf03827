"""Settings of the stacks, before a first `cdk deploy`."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from stacks.settings import Settings
from stacks.settings.recorded import RECORD, record_of
from tests.training.preflight.situations import breaking
from tests.training.preflight.situations.account import ACCOUNT
from tests.training.preflight.situations.breaking import nothing
from tests.training.preflight.situations.situation import Situation, Sound, error, info, warning
from tests.training.preflight.situations.sound import Base, put_stack

REGION = "us-east-2"
"""Where nothing of ours is deployed."""

ZONES = tuple(f"{REGION}{letter}" for letter in "abc")

BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"

GROUP_NAME = f"{Settings().cluster.name}-workers"
"""Of the EC2 cluster's workers."""

ADMIN = f"arn:aws:iam::{ACCOUNT}:user/situations"


def _c(**settings: str) -> tuple[str, ...]:
    return tuple(word for key, value in settings.items() for word in ("-c", f"{key}={value}"))


_STACKS = ("--stacks", *_c(eks_admin_arns=ADMIN))

NEW = (*_STACKS, *_c(vpc_cidr="10.42.0.0/16"))
"""All of it is made."""

VPC = (
    *_STACKS,
    *_c(vpc_id="{vpc}", private_subnets="{private_subnets}", s3_endpoint="existing"),
)
"""In a VPC that is there."""

GROUP = (*VPC, *_c(training_security_group_id="{jobs}"))

EFS = (
    *GROUP,
    *_c(efs_id="{efs}", efs_mount_targets="existing", efs_security_group_id="{targets}"),
    *_c(efs_security_group_rules="existing"),
)
FSX = (
    *GROUP,
    *_c(fsx_id="{fsx}", fsx_mount_name="{mount_name}", fsx_security_group_id="{servers}"),
    *_c(fsx_security_group_rules="existing", fsx_zone="2"),
)
BUCKET = (*NEW, *_c(bucket_name="{bucket}", bucket_encryption_key_arn="{key}"))


def make_fit(base: Base) -> None:
    """Make what the stacks want of an account, a bucket and a VPC that are there."""
    s3, ec2 = base.boto("s3"), base.boto("ec2")
    base.boto("ssm").put_parameter(Name=BOOTSTRAP, Value="28", Type="String", Overwrite=True)
    base.boto("iam").create_user(UserName=ADMIN.rpartition("/")[2])
    ec2.create_key_pair(KeyName=f"mine-{base.mark}")
    s3.put_bucket_versioning(Bucket=base.bucket, VersioningConfiguration={"Status": "Enabled"})
    rule = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": base.key}
    s3.put_bucket_encryption(
        Bucket=base.bucket,
        ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": rule}]},
    )
    s3.put_public_access_block(Bucket=base.bucket, PublicAccessBlockConfiguration=BLOCKED)
    base.boto("kms").put_key_policy(
        KeyId=base.key_id, PolicyName="default", Policy=policy_of(WHOLE_ACCOUNT, FSX_ROLES)
    )
    base.private_subnets = ",".join(
        ":".join(each) for each in zip(base.subnets, base.zones, base.tables, strict=True)
    )


def policy_of(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [*statements]})


WHOLE_ACCOUNT = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
    "Action": "kms:*",
    "Resource": "*",
}
FSX_ROLES = {
    "Effect": "Allow",
    "Principal": "*",
    "Action": "kms:*",
    "Resource": "*",
    "Condition": {
        "StringLike": {
            "aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/"
            "s3.data-source.lustre.fsx.amazonaws.com/*"
        }
    },
}

BLOCKED = dict.fromkeys(
    ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True
)


# What is broken.


def _lose_bootstrap(base: Base) -> None:
    _put_bootstrap(base, None)


def _put_bootstrap(base: Base, version: str | None) -> None:
    ssm, name = base.boto("ssm"), BOOTSTRAP
    put = partial(ssm.put_parameter, Name=name, Type="String", Overwrite=True)
    if version is None:
        ssm.delete_parameter(Name=name)
    else:
        put(Value=version)
    base.account.undo.callback(put, Value="28")


def _use_up(base: Base, quota: str, value: int) -> None:
    base.account.quota(quota, value)


def _without_names(base: Base) -> None:
    ec2 = base.boto("ec2")
    ec2.modify_vpc_attribute(VpcId=base.vpc, EnableDnsHostnames={"Value": False})
    base.account.undo.callback(
        ec2.modify_vpc_attribute, VpcId=base.vpc, EnableDnsHostnames={"Value": True}
    )


def _lose_way_out(base: Base) -> None:
    """Delete the route of a private subnet to the NAT gateway."""
    ec2, table = base.boto("ec2"), base.tables[0]
    (found,) = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"]
    nat = next(each["NatGatewayId"] for each in found["Routes"] if each.get("NatGatewayId"))
    way: dict[str, Any] = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}
    ec2.delete_route(**way)
    base.account.undo.callback(ec2.create_route, **way, NatGatewayId=nat)


def _lead_to_gateway(base: Base) -> None:
    ec2, table = base.boto("ec2"), base.tables[0]
    _lose_way_out(base)
    way: dict[str, Any] = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}
    ec2.create_route(**way, GatewayId=base.gateway)
    base.account.undo.callback(ec2.delete_route, **way)


def _lose_route_to_s3(base: Base) -> None:
    """Take a private subnet's route table off the gateway endpoint."""
    ec2 = base.boto("ec2")
    ec2.modify_vpc_endpoint(VpcEndpointId=base.endpoint, RemoveRouteTableIds=[base.tables[1]])
    base.account.undo.callback(
        ec2.modify_vpc_endpoint, VpcEndpointId=base.endpoint, AddRouteTableIds=[base.tables[1]]
    )


def _swap_tables(base: Base) -> None:
    ec2 = base.boto("ec2")
    (found,) = ec2.describe_route_tables(RouteTableIds=[base.tables[0]])["RouteTables"]
    (association,) = (
        each["RouteTableAssociationId"]
        for each in found["Associations"]
        if each.get("SubnetId") == base.subnets[0]
    )
    changed = ec2.replace_route_table_association(
        AssociationId=association, RouteTableId=base.tables[1]
    )["NewAssociationId"]
    base.account.undo.callback(
        ec2.replace_route_table_association,
        AssociationId=changed,
        RouteTableId=base.tables[0],
    )


def _fill_subnet(base: Base) -> None:
    def change(said: dict[str, Any]) -> None:
        for each in said["Subnets"]:
            if each["SubnetId"] == base.subnets[1]:
                each["AvailableIpAddressCount"] = 0

    base.account.says("ec2", "DescribeSubnets", change)


def _deploy(base: Base, stack: str, **context: str) -> None:
    """Let a stack be there that was deployed with other settings."""
    record = record_of(Settings.from_context(context), stack)
    put_stack(base, stack, {}, **{RECORD: record})
    base.account.undo.callback(base.boto("cloudformation").delete_stack, StackName=stack)


def _stack_is(base: Base, status: str) -> None:
    """Let a deploy of a stack be in the middle of something."""
    _deploy(base, "RegistryStack")
    base.account.says(
        "cloudformation",
        "DescribeStacks",
        lambda said: said["Stacks"][0].update(StackStatus=status),
    )


def _unversion(base: Base) -> None:
    s3 = base.boto("s3")
    put = partial(s3.put_bucket_versioning, Bucket=base.bucket)
    put(VersioningConfiguration={"Status": "Suspended"})
    base.account.undo.callback(put, VersioningConfiguration={"Status": "Enabled"})


def _unblock(base: Base) -> None:
    s3 = base.boto("s3")
    s3.delete_public_access_block(Bucket=base.bucket)
    base.account.undo.callback(
        s3.put_public_access_block, Bucket=base.bucket, PublicAccessBlockConfiguration=BLOCKED
    )


def _shut_fsx_out(base: Base) -> None:
    """Let the bucket's policy let in one network alone."""
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [f"arn:aws:s3:::{base.bucket}", f"arn:aws:s3:::{base.bucket}/*"],
        "Condition": {"StringNotEquals": {"aws:SourceVpc": "vpc-1"}},
    }
    base.account.answers_with("s3", "GetBucketPolicy", {"Policy": policy_of(statement)})


def _shut_fsx_out_of_key(base: Base) -> None:
    kms = base.boto("kms")
    put = partial(kms.put_key_policy, KeyId=base.key_id, PolicyName="default")
    put(Policy=policy_of(WHOLE_ACCOUNT))
    base.account.undo.callback(put, Policy=policy_of(WHOLE_ACCOUNT, FSX_ROLES))


def _make_elsewhere(base: Base) -> str:
    """Make a VPC, and return a subnet of it."""
    ec2 = base.boto("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnet: str = ec2.create_subnet(VpcId=vpc, CidrBlock="10.77.0.0/24", AvailabilityZone=ZONES[1])[
        "Subnet"
    ]["SubnetId"]
    base.account.undo.callback(ec2.delete_vpc, VpcId=vpc)
    base.account.undo.callback(ec2.delete_subnet, SubnetId=subnet)
    return subnet


def _move_fsx(base: Base) -> None:
    subnet = _make_elsewhere(base)
    base.account.says(
        "fsx", "DescribeFileSystems", lambda said: said["FileSystems"][0].update(SubnetIds=[subnet])
    )


def _move_efs(base: Base) -> None:
    def change(said: dict[str, Any]) -> None:
        for each in said["MountTargets"]:
            each["VpcId"] = "vpc-0123456789abcdef0"

    base.account.says("efs", "DescribeMountTargets", change)


def _take_group_name(base: Base) -> None:
    groups, ec2 = base.boto("autoscaling"), base.boto("ec2")
    image = ec2.register_image(Name=f"x-{base.mark}", RootDeviceName="/dev/sda1")["ImageId"]
    template = ec2.create_launch_template(
        LaunchTemplateName="x", LaunchTemplateData={"ImageId": image, "InstanceType": "m6i.large"}
    )["LaunchTemplate"]["LaunchTemplateId"]
    groups.create_auto_scaling_group(
        AutoScalingGroupName=GROUP_NAME,
        LaunchTemplate={"LaunchTemplateId": template, "Version": "1"},
        MinSize=0,
        MaxSize=1,
        DesiredCapacity=0,
        VPCZoneIdentifier=base.subnets[0],
    )
    base.account.undo.callback(ec2.delete_launch_template, LaunchTemplateId=template)
    base.account.undo.callback(groups.delete_auto_scaling_group, AutoScalingGroupName=GROUP_NAME)


def _open_group(base: Base) -> None:
    """Let nothing of the training group's own members in."""
    breaking.close(base, base.jobs, base.jobs)


SITUATIONS = (
    # The account.
    Situation(
        "the account is not bootstrapped",
        NEW,
        _lose_bootstrap,
        (error("bootstrap-missing", BOOTSTRAP),),
    ),
    Situation(
        "the bootstrap is too old",
        NEW,
        partial(_put_bootstrap, version="3"),
        (error("bootstrap-too-old", BOOTSTRAP),),
    ),
    Situation(
        "the settings name another account",
        (*NEW, *_c(aws_account="210987654321", aws_region=REGION)),
        nothing,
        (error("account-differs", "aws_account"),),
    ),
    Situation(
        "an earlier deploy was broken off",
        NEW,
        partial(_stack_is, status="UPDATE_ROLLBACK_FAILED"),
        (error("stack-broken", "RegistryStack"),),
    ),
    Situation(
        "another deploy goes on",
        NEW,
        partial(_stack_is, status="UPDATE_IN_PROGRESS"),
        (error("stack-busy", "RegistryStack"),),
    ),
    Situation(
        "FSx is to get smaller than it is",
        (*NEW, *_c(fsx_capacity_gib="2400")),
        partial(_deploy, stack="StorageStack", fsx_capacity_gib="4800"),
        (error("change-refused-by-aws", "fsx_capacity_gib"),),
    ),
    Situation(
        "the file system with the data would be deleted",
        (*NEW, *_c(fsx="none")),
        partial(_deploy, stack="StorageStack"),
        (error("deletes-file-system", "fsx"),),
    ),
    Situation(
        "a setting goes back to its default in so many words",
        (*NEW, *_c(notebook_idle_minutes=str(Settings().notebook.idle_minutes))),
        partial(_deploy, stack="NotebookStack", notebook_idle_minutes="500"),
        (info("setting-changed", "notebook_idle_minutes"),),
    ),
    Situation(
        "a setting of the last deploy was forgotten",
        NEW,
        partial(_deploy, stack="NotebookStack", notebook_idle_minutes="500"),
        (warning("setting-forgotten", "notebook_idle_minutes"),),
    ),
    Situation(
        "the admins of the cluster are not there",
        (*NEW, *_c(eks_admin_arns=f"arn:aws:iam::{ACCOUNT}:role/gone")),
        nothing,
        (error("kubernetes-admin-missing", "eks_admin_arns"),),
    ),
    # Quotas.
    Situation(
        "no more VPCs may be made",
        NEW,
        partial(_use_up, quota="L-F678F1CE", value=2),
        (error("quota-too-small", "vpc_id"),),
    ),
    Situation(
        "no more Elastic IPs may be had",
        NEW,
        partial(_use_up, quota="L-0263D0A3", value=1),
        (error("quota-too-small", "nat_gateways"),),
    ),
    Situation(
        "no more internet gateways may be made",
        NEW,
        partial(_use_up, quota="L-A4707A72", value=1),
        (error("quota-too-small", "internet_access"),),
    ),
    Situation(
        "FSx may not have so much",
        NEW,
        partial(_use_up, quota="L-8F1B9C74", value=1200),
        (error("quota-too-small", "fsx_capacity_gib"),),
    ),
    # The network.
    Situation(
        "the addresses are another VPC's",
        (*_STACKS, *_c(vpc_cidr="10.0.0.0/16")),
        nothing,
        (warning("vpc-overlaps", "vpc_cidr"),),
    ),
    Situation(
        "the VPC was deleted",
        (*_STACKS, *_c(vpc_id="vpc-0123456789abcdef0", private_subnets="{private_subnets}")),
        nothing,
        (
            error("vpc-missing", "vpc_id"),
            *[error("subnet-in-another-vpc", "private_subnets")] * 3,
        ),
    ),
    Situation(
        "the VPC gives no names",
        VPC,
        _without_names,
        (error("vpc-without-dns", "vpc_id"),),
    ),
    Situation(
        "a subnet is in another zone",
        (
            *_STACKS,
            *_c(
                vpc_id="{vpc}",
                private_subnets=f"{{subnets[0]}}:{ZONES[1]}:{{tables[0]}},"
                f"{{subnets[2]}}:{ZONES[2]}:{{tables[2]}}",
                s3_endpoint="existing",
                fsx_zone="2",
            ),
        ),
        nothing,
        (error("subnet-in-another-zone", "private_subnets"),),
    ),
    Situation(
        "a subnet uses another route table",
        VPC,
        _swap_tables,
        (error("route-table-differs", "private_subnets"),),
    ),
    Situation(
        "a private subnet has no way out",
        VPC,
        _lose_way_out,
        (error("subnet-without-internet", "private_subnets"),),
    ),
    Situation(
        "a private subnet is public",
        VPC,
        _lead_to_gateway,
        (warning("subnet-is-public", "private_subnets"),),
    ),
    Situation(
        "a private subnet has no route to S3",
        VPC,
        _lose_route_to_s3,
        (error("s3-endpoint-missing", "s3_endpoint"),),
    ),
    Situation(
        "a second endpoint of S3 would be made",
        (*VPC, *_c(s3_endpoint="create")),
        nothing,
        (error("s3-endpoint-exists", "s3_endpoint"),),
    ),
    Situation(
        "a private subnet has no free address",
        VPC,
        _fill_subnet,
        (
            error("subnet-full", "private_subnets"),
            error("kubernetes-subnet-full", "private_subnets"),
        ),
    ),
    Situation(
        "the training group does not let its members in",
        GROUP,
        _open_group,
        (error("training-group-closed-to-itself", "training_security_group_id"),),
    ),
    Situation(
        "the training group was deleted",
        (*VPC, *_c(training_security_group_id="sg-0123456789abcdef0")),
        nothing,
        (error("training-group-missing", "training_security_group_id"),),
    ),
    # Storage.
    Situation(
        "the EFS that is named was deleted",
        (*NEW, *_c(efs_id="fs-0123456789abcdef0")),
        nothing,
        (error("efs-missing", "efs_id"),),
    ),
    Situation(
        "second mount targets would be made",
        (*VPC, *_c(efs_id="{efs}")),
        nothing,
        (error("efs-mount-target-exists", "efs_mount_targets"),),
    ),
    Situation(
        "the EFS that is named has no mount target in a zone",
        EFS,
        partial(breaking.delete_mount_target, number=0),
        (
            error("efs-mount-target-missing", "efs_mount_targets"),
            error("cluster-zone-without-mount-target", "cluster_zone"),
            error("cluster-zone-without-mount-target", "public_subnets"),
        ),
    ),
    Situation(
        "the EFS that is named is in another VPC",
        EFS,
        _move_efs,
        (error("efs-in-another-vpc", "efs_id"),),
    ),
    Situation(
        "the EFS that is named lets no NFS in",
        EFS,
        breaking.close_nfs,
        (error("efs-port-closed", "efs_security_group_rules"),),
    ),
    Situation(
        "the EFS that is named demands TLS",
        EFS,
        breaking.demand_tls,
        (error("efs-policy-locks-out", "efs_id"),),
    ),
    Situation(
        "the FSx that is named was deleted",
        (*FSX, *_c(fsx_id="fs-0123456789abcdef0")),
        nothing,
        (error("fsx-missing", "fsx_id"),),
    ),
    Situation(
        "the FSx that is named is in another VPC",
        FSX,
        _move_fsx,
        (error("fsx-in-another-vpc", "fsx_id"),),
    ),
    Situation(
        "the FSx that is named is in another zone",
        (*FSX, *_c(fsx_zone="1")),
        nothing,
        (error("fsx-in-another-zone", "fsx_zone"),),
    ),
    Situation(
        "the FSx that is named has a port closed",
        FSX,
        breaking.close_lustre,
        (error("fsx-ports-closed", "fsx_security_group_rules"),),
    ),
    Situation(
        "the bucket that is named is not there",
        (*NEW, *_c(bucket_name="gone-from-here")),
        nothing,
        (error("bucket-missing", "bucket_name"),),
    ),
    Situation(
        "the bucket that is named is another account's",
        BUCKET,
        lambda base: base.account.refuses("s3", "HeadBucket", "403"),
        (error("bucket-forbidden", "bucket_name"),),
    ),
    Situation(
        "the bucket that is named keeps no versions",
        BUCKET,
        _unversion,
        (warning("bucket-not-versioned", "bucket_name"),),
    ),
    Situation(
        "the bucket that is named may be opened to the world",
        BUCKET,
        _unblock,
        (warning("bucket-not-blocked", "bucket_name"),),
    ),
    Situation(
        "the policy of the bucket that is named may keep FSx out",
        BUCKET,
        _shut_fsx_out,
        (warning("bucket-policy-may-deny-link", "bucket_name"),),
    ),
    Situation(
        "the bucket that takes logs is not there",
        (*NEW, *_c(bucket_access_logs="gone-from-here")),
        nothing,
        (error("log-bucket-unfit", "bucket_access_logs"),),
    ),
    Situation(
        "the key that is named does not let FSx in",
        BUCKET,
        _shut_fsx_out_of_key,
        (error("key-closed-to-fsx", "bucket_encryption_key_arn"),),
    ),
    Situation(
        "the key that is named is disabled",
        BUCKET,
        breaking.disable_key,
        (error("key-not-enabled", "bucket_encryption_key_arn"),),
    ),
    # Nodes.
    Situation(
        "the key pair is not there",
        (*NEW, *_c(cluster_key_name="gone")),
        nothing,
        (error("cluster-key-pair-missing", "cluster_key_name"),),
    ),
    Situation(
        "the name of the cluster is taken",
        NEW,
        _take_group_name,
        (error("cluster-name-taken", "cluster_name"),),
    ),
    Situation(
        "no zone has the workers' type",
        (*NEW, *_c(cluster_worker_instance_type="p3.16xlarge")),
        nothing,
        (warning("cluster-worker-type-not-in-zone", "cluster_worker_instance_type"),),
    ),
    Situation(
        "the SSH of the head is open to the world",
        (*NEW, *_c(cluster_ssh_location="0.0.0.0/0", cluster_allow_open_ssh="true")),
        nothing,
        (warning("cluster-ssh-open", "cluster_ssh_location"),),
    ),
)

SOUND = (
    Sound("all of it is made", NEW),
    Sound("a VPC that is there", VPC),
    Sound("a VPC and its training group", GROUP),
    Sound("a VPC and EFS", EFS),
    Sound("a VPC and FSx", FSX),
    Sound("a bucket that is there", BUCKET),
    Sound("no FSx", (*NEW, *_c(fsx="none"))),
    Sound("a key pair", (*NEW, *_c(cluster_key_name="mine-{mark}"))),
)
