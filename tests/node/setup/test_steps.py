"""Single steps of the set-up, in the cases that a whole one does not show."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.node.setup.equipment import disks, pci
from tests.node.setup.host import FSX_DNS, Host, Left

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and mounts"),
]

RECORD = "source /usr/local/bin/record"
ON_DISK = "mount -o noatime {} /scratch"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, programs={"mkfs.xfs": RECORD, "blkid": f"{RECORD}\nexit 2"})


def lines(left: Left, *names: str) -> list[str]:
    assert left.code == 0, left.printed
    return [" ".join(call) for call in left.calls if call[0] in names]


def test_one_disk_needs_no_array(host: Host) -> None:
    disks(host, "nvme1n1")
    assert lines(host.step("scratch"), "mkfs.xfs", "mdadm", "mount") == [
        "mkfs.xfs -f -q -L mrcnnscratch /dev/nvme1n1",
        ON_DISK.format("/dev/nvme1n1"),
    ]


def test_many_disks_are_striped_by_lvm_where_mdadm_is_missing(host: Host) -> None:
    disks(host, "nvme1n1", "nvme2n1")
    host.programs |= dict.fromkeys(("pvcreate", "vgcreate", "lvcreate"), RECORD)
    left = host.step("scratch")
    assert lines(left, "pvcreate", "vgcreate", "lvcreate", "mkfs.xfs", "mount") == [
        "pvcreate --force --yes /dev/nvme1n1 /dev/nvme2n1",
        "vgcreate mask-rcnn /dev/nvme1n1 /dev/nvme2n1",
        "lvcreate --yes --stripes 2 --extents 100%FREE --name scratch mask-rcnn",
        "mkfs.xfs -f -q -L mrcnnscratch /dev/mask-rcnn/scratch",
        ON_DISK.format("/dev/mask-rcnn/scratch"),
    ]


def test_disks_of_an_earlier_start_keep_what_is_on_them(host: Host) -> None:
    disks(host, "nvme1n1", "nvme2n1")
    host.programs["blkid"] = f"{RECORD}\necho /dev/md127"
    assert lines(host.step("scratch"), "blkid", "mkfs.xfs", "mdadm", "mount") == [
        "blkid -L mrcnnscratch",
        ON_DISK.format("/dev/md127"),
    ]


def test_disks_that_the_ami_has_mounted_are_used_from_there(host: Host) -> None:
    disks(host, "nvme1n1", "nvme2n1")
    host.programs["mountpoint"] = '[[ "${!#}" == /opt/dlami/nvme ]]'
    assert lines(host.step("scratch"), "mkfs.xfs", "mdadm", "mount") == [
        "mount --bind /opt/dlami/nvme/scratch /scratch"
    ]


def test_efs_that_lets_only_roles_be_root_is_mounted_with_the_nodes_role(host: Host) -> None:
    host.config["efs"]["iam"] = True
    host.programs["mount.efs"] = "exit 1"
    assert lines(host.step("efs"), "mount") == ["mount -t efs -o tls,iam fs-1:/ /efs"]


def fsx(host: Host) -> None:
    host.config["fsx"] = {"id": "fs-2", "dns": FSX_DNS, "mount_name": "abc", "mount": "/fsx"}


def test_a_lustre_client_is_installed_where_the_ami_has_none(host: Host) -> None:
    fsx(host)
    host.without = ("mount.lustre",)
    host.programs["dnf"] = f"{RECORD}\ncp /usr/local/bin/mount.nfs4 /usr/local/bin/mount.lustre"
    assert lines(host.step("fsx"), "dnf", "mount") == [
        "dnf install --assumeyes --quiet lustre-client",
        f"mount -t lustre -o relatime,flock {FSX_DNS}@tcp:/abc /fsx",
    ]


def test_a_lustre_client_that_cannot_be_installed_is_named(host: Host) -> None:
    fsx(host)
    host.without = ("mount.lustre",)
    host.programs["dnf"] = "exit 1"
    assert host.step("fsx").error == (
        f"FSx not mountable: {FSX_DNS} at /fsx: the AMI has no Lustre client, and it could not be "
        "installed"
    )


def test_lustre_that_does_not_answer_is_named_with_its_ports(host: Host) -> None:
    fsx(host)
    host.ports = (2049,)
    assert host.step("fsx", seconds=6).error == (
        f"FSx not mountable: {FSX_DNS} at /fsx: port 988 of {FSX_DNS} cannot be reached: "
        "Connection refused (tried for 2 s). Its security group must take ports 988 and 1018-1023 "
        "from the nodes"
    )


def test_an_elastic_ip_that_may_not_be_taken_is_named(host: Host) -> None:
    host.config["elastic_ip_allocation"] = "eipalloc-1"
    host.aws_faults = {"associate-address": "refuse"}
    assert host.step("address").error.startswith(
        "Elastic IP eipalloc-1 cannot be given to this head:  An error occurred "
        "(AccessDeniedException)"
    )


def test_a_gpu_instance_needs_a_runtime_for_gpus(host: Host) -> None:
    pci(host, ("0x10de", "0x030200"))
    host.programs["nvidia-smi"] = "echo 'GPU 0: A100'"
    assert host.step("image").error == (
        "no container runtime for GPUs: this AMI has no NVIDIA container toolkit"
    )
