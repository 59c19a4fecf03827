"""For any machines that the schema takes, a chart renders a whole job or says why it cannot."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from charts.make.tables import types_of
from tests.charts.rendering import TRAINING, documents, only, run, variables, worker
from training.algorithms.gpu_counts import check_gpu_count
from training.errors import UsageError
from training.instances import find_instance

# Each example starts Helm, so that looking for the smallest one would take minutes.
PROCESSES = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def machines(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    chart = draw(st.sampled_from(sorted(TRAINING)))
    return chart, {
        "gpu_instance_type": draw(st.sampled_from(types_of(TRAINING[chart]))),
        "nodes": draw(st.integers(1, 64)),
        "gpus_per_node": draw(st.none() | st.integers(1, 9)),
        "gpus": draw(st.none() | st.integers(1, 128)),
    }


@settings(PROCESSES, max_examples=25)
@given(machines())
def test_a_job_has_its_gpus_or_is_refused_for_a_reason(asked: tuple[str, dict[str, Any]]) -> None:
    chart, values = asked
    instance = find_instance(values["gpu_instance_type"])
    per_node = values["gpus_per_node"] or instance.gpus
    total = values["nodes"] * per_node

    done = run(["template", "job", f"charts/{chart}"], {"maskrcnn": values})

    wrong = per_node > instance.gpus or values["gpus"] not in {None, total}
    assert (done.returncode != 0) is (wrong or not counted(TRAINING[chart], total))
    if done.returncode != 0:
        assert "Error: execution error" in done.stderr
        assert "maskrcnn" in done.stderr
        return
    objects = documents(done.stdout)
    spec = only("MPIJob", objects)["spec"]
    limits = worker(objects)["containers"][0]["resources"]["limits"]
    assert spec["mpiReplicaSpecs"]["Worker"]["replicas"] == values["nodes"]
    assert spec["slotsPerWorker"] == limits["nvidia.com/gpu"] == per_node
    assert variables(worker(objects))["MASK_RCNN_PROCESSES_PER_HOST"] == str(per_node)
    # As many pods as have room for their GPUs have room for the rest.
    pods = instance.gpus // per_node
    assert pods * int(limits["cpu"]) < instance.vcpus
    assert pods * int(limits["memory"].removesuffix("Mi")) < instance.memory_gib * 1024
    assert pods * limits.get("vpc.amazonaws.com/efa", 0) <= (instance.efa_interfaces or 0)


def counted(algorithm: str, total: int) -> bool:
    if algorithm == "horovod":
        return True
    try:
        check_gpu_count(algorithm, total)
    except UsageError:
        return False
    return True


_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@settings(PROCESSES, max_examples=15)
@given(
    environment=st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,9}", fullmatch=True), _WORDS),
    tags=st.dictionaries(_WORDS.filter(lambda key: key.isprintable() and key), _WORDS, max_size=3),
)
def test_what_users_write_arrives_as_they_wrote_it(
    environment: dict[str, str], tags: dict[str, str]
) -> None:
    done = run(
        ["template", "job", "charts/maskrcnn-horovod"],
        {"job": {"environment": environment, "tags": tags}},
    )

    assert done.returncode == 0, done.stderr
    objects = documents(done.stdout)
    arrived = variables(worker(objects))
    own = {"HOME", "TRAINING_JOB_NAME"}
    for name, value in environment.items():
        if name not in own and not name.startswith("MASK_RCNN_"):
            assert arrived[name].replace("$$", "$") == value
