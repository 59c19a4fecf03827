"""EFS and FSx on hosts: folders of local AWS, by the commands that mount the real ones."""

from __future__ import annotations

import pytest

from tests.localaws.hosts.conftest import Cloud

pytestmark = [pytest.mark.root, pytest.mark.slow]


def make_efs(cloud: Cloud, zone: str) -> str:
    """Make an EFS file system with one mount target; return its id."""
    efs, ec2 = cloud.aws.client("efs"), cloud.aws.client("ec2")
    file_system = efs.create_file_system(CreationToken=f"hosts-{zone}")["FileSystemId"]
    subnets = ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": [zone]}])
    efs.create_mount_target(FileSystemId=file_system, SubnetId=subnets["Subnets"][0]["SubnetId"])
    return str(file_system)


def test_efs_is_one_folder_for_all_hosts(cloud: Cloud) -> None:
    file_system = make_efs(cloud, "us-east-1a")
    name = f"{file_system}.efs.us-east-1.amazonaws.com"
    first, second = (each["InstanceId"] for each in cloud.launch(count=2))
    mount = ["mkdir -p /efs", f"mount -t nfs4 -o nfsvers=4.1 {name}:/ /efs", "mountpoint -q /efs"]
    cloud.run(first, *mount, "echo shared >/efs/file")
    assert cloud.run(second, *mount, "cat /efs/file") == "shared"
    assert (cloud.aws.mounts / file_system / "file").read_text() == "shared\n"
    cloud.run(second, "umount /efs", "mount -t nfs4 -o nfsvers=4.1,ro " + f"{name}:/ /efs")
    refused = cloud.outcome(cloud.send(second, "touch /efs/other"), second)
    assert "Read-only file system" in refused["StandardErrorContent"]
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[first, second])


def test_efs_without_a_mount_target_in_the_zone_is_not_found(cloud: Cloud) -> None:
    file_system = make_efs(cloud, "us-east-1b")
    name = f"{file_system}.efs.us-east-1.amazonaws.com"
    (elsewhere,) = (each["InstanceId"] for each in cloud.launch(zone="us-east-1c"))
    found = cloud.outcome(
        cloud.send(elsewhere, f"mkdir -p /efs; mount -t nfs4 {name}:/ /efs"), elsewhere
    )
    assert found["ResponseCode"] == 32
    assert f"Failed to resolve server {name}" in found["StandardErrorContent"]
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[elsewhere])


def test_fsx_is_mounted_by_its_mount_name(cloud: Cloud) -> None:
    ec2, fsx = cloud.aws.client("ec2"), cloud.aws.client("fsx")
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]
    (host,) = (each["InstanceId"] for each in cloud.launch())
    source = f"{made['DNSName']}@tcp:/{made['LustreConfiguration']['MountName']}"
    cloud.run(
        host, f"mkdir /fsx && mount -t lustre -o relatime,flock {source} /fsx", "touch /fsx/a"
    )
    assert (cloud.aws.mounts / made["FileSystemId"] / "a").exists()
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[host])
