"""What mpirun, torchrun, smddprun and ssh are given: whole, as golden lists."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from entrypoint.job import Job
from entrypoint.launcher import Launcher, choose_launcher
from entrypoint.mpirun import RemoteShell, mpirun_command
from entrypoint.smddprun import smddprun_command
from entrypoint.ssh_client import Worker, write_client_files
from entrypoint.sshd import authorized_keys, server_config
from entrypoint.torchrun import torchrun_command

JOB = Job(
    algorithm="horovod",
    distribution="mpi",
    hyperparameters={"name": "$(touch /tmp/x)"},
    data="/opt/ml/input/data/train",
    log="/opt/ml/input/data/log",
    hosts=["algo-1", "algo-2"],
    current_host="algo-2",
    processes_per_host=8,
    network_interface="eth0",
    gpus_per_host=8,
    instance_type="ml.p4d.24xlarge",
)
REMOTE = RemoteShell("/usr/bin/ssh", "/tmp/mask-rcnn-1/ssh_config")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB"

MCA = [
    *("--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"),
    *("--mca", "pml", "ob1", "--mca", "btl", "^openib"),
    *("--mca", "btl_vader_single_copy_mechanism", "none"),
    *("--mca", "orte_abort_on_non_zero_status", "1"),
]
REMOTE_MCA = [
    *("--mca", "plm_rsh_agent", "/usr/bin/ssh -F /tmp/mask-rcnn-1/ssh_config"),
    *("--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "plm_rsh_num_concurrent", "2"),
]
RANKS = ["-np", "16", "-H", "algo-1:8,algo-2:8", "--map-by", "slot", "--bind-to", "none"]


def test_the_whole_command_of_mpirun() -> None:
    argv = mpirun_command(JOB, "/usr/bin/mpirun", ["start"], REMOTE, as_root=True)
    assert argv == [
        *("/usr/bin/mpirun", "--allow-run-as-root"),
        *RANKS,
        "--tag-output",
        *REMOTE_MCA,
        *MCA,
        "start",
    ]


def test_one_host_without_an_interface_and_root_needs_less() -> None:
    job = JOB._replace(hosts=["algo-1"], current_host="algo-1", network_interface=None)
    argv = mpirun_command(job, "/usr/bin/mpirun", ["start"], None, as_root=False)
    assert argv == [
        *("/usr/bin/mpirun", "-np", "8", "-H", "localhost:8", "--map-by", "slot"),
        *("--bind-to", "none", "--tag-output"),
        *MCA[6:],
        "start",
    ]


def test_the_whole_command_of_torchrun() -> None:
    assert torchrun_command(JOB, ["start"]) == [
        *(sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--node_rank", "1"),
        *("--nproc_per_node", "8", "--master_addr", "algo-1", "--master_port", "7777"),
        *("--max_restarts", "0", "--no_python", "start"),
    ]


def test_torchrun_on_one_host_needs_no_name() -> None:
    argv = torchrun_command(JOB._replace(hosts=["algo-1"], current_host="algo-1"), ["start"])
    assert argv[argv.index("--master_addr") + 1] == "127.0.0.1"


def test_the_whole_command_of_smddprun() -> None:
    argv = smddprun_command(JOB, "/usr/bin/mpirun", ["start"], REMOTE, as_root=True)
    assert argv == [
        *("/usr/bin/mpirun", "--oversubscribe", "--allow-run-as-root"),
        *RANKS,
        "--tag-output",
        *REMOTE_MCA,
        *MCA,
        *("-x", "SMDATAPARALLEL_USE_HOMOGENEOUS=1"),
        *("-x", "SMDATAPARALLEL_SERVER_ADDR=algo-1", "-x", "SMDATAPARALLEL_SERVER_PORT=7592"),
        *("-x", "SAGEMAKER_INSTANCE_TYPE=ml.p4d.24xlarge"),
        *("-x", "FI_PROVIDER=efa", "-x", "RDMAV_FORK_SAFE=1", "-x", "NCCL_SOCKET_IFNAME=eth0"),
        *("-x", "FI_EFA_USE_DEVICE_RDMA=1", "smddprun", "start"),
    ]


def test_smddprun_on_one_host_has_no_servers_on_others() -> None:
    job = JOB._replace(hosts=["algo-1"], current_host="algo-1")
    argv = smddprun_command(job, "/usr/bin/mpirun", ["start"], None, as_root=True)
    assert "SMDATAPARALLEL_USE_SINGLENODE=1" in argv
    assert not [word for word in argv if "SERVER" in word or "HOMOGENEOUS" in word]


@pytest.mark.parametrize(
    ("distribution", "launcher"),
    [
        ("mpi", Launcher("mpirun", on_every_host=False)),
        ("torchrun", Launcher("torchrun", on_every_host=True)),
        # Below torchrun the library would leave the sums to NCCL.
        ("smddp", Launcher("smddprun", on_every_host=False)),
    ],
)
def test_each_distribution_has_its_launcher(distribution: str, launcher: Launcher) -> None:
    assert choose_launcher(distribution) == launcher


def test_ssh_takes_only_the_keys_that_were_handed_over(tmp_path: Path) -> None:
    worker = Worker("algo-2", "10.0.0.2", 40001, "root", KEY, "10.0.0.1")
    config = write_client_files(str(tmp_path), "/k/head_key", [worker])
    assert (tmp_path / "known_hosts").read_text() == f"algo-2 {KEY}\n"
    lines = [line.strip() for line in Path(config).read_text().splitlines()]
    assert lines[:6] == [
        *("Host algo-2", "HostName 10.0.0.2", "Port 40001", "User root"),
        *("HostKeyAlias algo-2", "BindAddress 10.0.0.1"),
    ]
    assert {"StrictHostKeyChecking yes", "BatchMode yes", "IdentitiesOnly yes"} <= set(lines)
    assert f"UserKnownHostsFile {tmp_path}/known_hosts" in lines
    assert "IdentityFile /k/head_key" in lines


def test_a_worker_lets_one_key_in_from_one_address() -> None:
    environment = {"PATH": "/opt/bin:/bin", "BAD": 'a"b', "WORSE": "a\nssh-rsa"}
    assert authorized_keys("10.0.0.1", KEY, environment) == (
        f'from="10.0.0.1",restrict,environment="PATH=/opt/bin:/bin" {KEY}\n'
    )
    assert authorized_keys(None, KEY, {}) == f"restrict {KEY}\n"


def test_a_workers_ssh_server_takes_nothing_but_keys_and_forwards_nothing() -> None:
    lines = server_config("10.0.0.2", 40001, "/k/host", "/k/authorized", "root").splitlines()
    assert lines[0] == "ListenAddress 10.0.0.2:40001"
    everywhere = server_config(None, 2222, "/k/host", "/k/authorized", "mask-rcnn").splitlines()
    assert (everywhere[0], everywhere[1:4]) == (
        "Port 2222",
        ["HostKey /k/host", "AuthorizedKeysFile /k/authorized", "AllowUsers mask-rcnn"],
    )
    assert {
        "AuthenticationMethods publickey",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "DisableForwarding yes",
        "PermitTTY no",
        "AllowUsers root",
        "AuthorizedKeysFile /k/authorized",
        "HostKey /k/host",
    } <= set(lines)
