"""What the cluster cannot run is refused by the plan, with place, value and what can."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.ec2.planning import outputs, request
from training.errors import UsageError

P3 = outputs(WorkerInstanceType="p3.16xlarge")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            {"algorithm": "tensorpack", "ec2__distribution": "elastic", "stacks": P3},
            "distribution elastic: algorithm tensorpack does not run with it; it runs with mpi",
        ),
        (
            {"stacks": P3},
            "instance type p3.16xlarge (x86_64, V100, compute capability 7.0): algorithm horovod "
            "with distribution elastic does not run on it: PyPI's torch",
        ),
        (
            {"algorithm": "tensorpack", "stacks": outputs(WorkerInstanceType="m6i.xlarge")},
            "instance type m6i.xlarge: algorithm tensorpack does not run without GPU",
        ),
        (
            {"stacks": outputs(HeadInstanceType="p3.2xlarge")},
            "the head node, p3.2xlarge, has 1 GPU(s), and each process takes one. A head node with",
        ),
        (
            {
                "stacks": outputs(HeadInstanceType="p3.2xlarge"),
                "instances__processes_per_instance": 1,
            },
            "instance type p3.2xlarge (x86_64, V100, compute capability 7.0): algorithm horovod",
        ),
        (
            {"instances__processes_per_instance": 9},
            "instances.processes_per_instance: 9: the worker node, p4d.24xlarge, has 8 GPU(s), "
            "and each process takes one; at most 8, or leave it out",
        ),
        (
            {"stacks": outputs(WorkerInstanceType="trn1.32xlarge")},
            "instance type trn1.32xlarge: AWS Trainium is no GPU",
        ),
        (
            {"data_source": "fsx", "stacks": outputs(FsxMount=None)},
            "data_source: fsx: the nodes of ClusterStack do not mount FSx for Lustre",
        ),
        (
            {"channels__log": "mask-rcnn/clusters/x"},
            "channels.log: mask-rcnn/clusters/x: mask-rcnn/clusters is the cluster's own folder",
        ),
        (
            {"ec2__distribution": "mpi", "ec2__least_workers": 1},
            "ec2.least_workers: 1: only distribution elastic goes on with fewer workers",
        ),
        (
            {"ec2__least_workers": 3},
            "ec2.least_workers: 3: the job takes 2 workers (instances.count)",
        ),
        ({"environment": {"LD_PRELOAD": "x"}}, "environment.LD_PRELOAD: this variable is not"),
        ({"environment": {"A": "a\0"}}, "environment.A: 'a\\x00': no variable can hold"),
        ({"tags": {"Job": "x"}}, "tags.Job: this tag is not yours to set"),
        (
            {"hyperparameters": {"gradient_compression": "bf16"}},
            "hyperparameters.gradient_compression: 'bf16': Horovod cannot add up bf16",
        ),
        (
            {"environment": {f"V{n}": "x" * 512 for n in range(100)}},
            "characters, and its SSM document takes 60,000; shorten what is long in",
        ),
        (
            {"stacks": outputs(MostWorkers="many"), "instances__count": None},
            "ClusterStack.MostWorkers is 'many'",
        ),
        ({"stacks": outputs(KeySecretArn="x")}, "ClusterStack.KeySecretArn is 'x'; expected an"),
        ({"ec2__access": "ssh"}, "ec2.access: ssh: the head node of ClusterStack takes no SSH"),
        ({"ec2__ssh_user": "-oProxyCommand=x"}, "ec2.ssh_user: '-oProxyCommand=x': string should"),
        ({"ec2__ssh_key": "id_rsa"}, "ec2.ssh_key: 'id_rsa': give the whole path, from /"),
        ({"image": "r/x:1,y"}, "image: 'r/x:1,y': expected registry/repository:tag or @sha256"),
        (
            {"limits__max_run_s": 31_622_401},
            "limits.max_run_s: 31622401: platform ec2 runs a job for at most 31622400 seconds",
        ),
        ({"channels__log": "x" * 500}, "channels.log: on the nodes it is /efs/xxx"),
        (
            {"environment": {"V" * 129: "x"}},
            "a name of 129 characters; the nodes take 128",
        ),
        ({"ec2__network_interface": "ens5; id"}, "ec2.network_interface: 'ens5; id': string"),
    ],
)
def test_what_the_cluster_cannot_run_is_refused_with_place_value_and_what_can(
    overrides: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        request(**overrides).to_json()
    assert said in str(refused.value)
