"""What a pod is told, and what it makes of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.pod import Listed, Pod, own_variables, read_hostfile, read_pod, take_key
from hypothesis import given
from hypothesis import strategies as st

from tests.docker.entrypoint.cluster import run

HOSTFILE = "OMPI_MCA_orte_default_hostfile"
POD = Pod("trial-worker-0", "1", "eth0", None, "/etc/mask-rcnn/ssh", 1800, 1)


def read(tmp_path: Path, text: str, slots: str = "8") -> list[Listed]:
    path = tmp_path / "hostfile"
    path.write_text(text)
    return read_hostfile({HOSTFILE: str(path)}, slots)


def test_workers_are_read_in_the_operators_order(tmp_path: Path) -> None:
    names = [f"trial-worker-{number}.trial.kubeflow.svc" for number in range(11)]
    text = "".join(f"{name} slots=8\n" for name in names)
    assert read(tmp_path, text) == [
        Listed(f"trial-worker-{number}", name) for number, name in enumerate(names)
    ]
    domain = "trial-worker-0.trial.kubeflow.svc.cluster.local"
    assert read(tmp_path, f"\n{domain} slots=8\n\n") == [Listed("trial-worker-0", domain)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no worker"),
        ("a.b.svc slots=4\n", "a.b.svc has 4 slots, but MASK_RCNN_PROCESSES_PER_HOST is 8"),
        ("a.b.svc\n", "a.b.svc has 1 slots"),
        ("a.b.svc:8\n", "'a.b.svc:8'; expected `NAME slots=N` (mpiImplementation: OpenMPI)"),
        ("a.b.svc slots=8\na.c.svc slots=8\n", "has a worker twice"),
        ("-oProxyCommand=x slots=8\n", "'-oProxyCommand=x slots=8'; expected"),
        ("a;b slots=8\n", "'a;b slots=8'; expected"),
    ],
)
def test_a_hostfile_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(EntrypointError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path}/hostfile: ")


def test_a_launcher_that_is_to_run_ranks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "trial-launcher")
    with pytest.raises(EntrypointError, match="runLauncherAsWorker of the MPIJob has to be false"):
        read(tmp_path, "trial-launcher.trial.kubeflow.svc slots=8\n")


@given(st.text(max_size=80))
def test_whatever_a_line_says_a_worker_has_a_plain_name(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        workers = read(folder, text, "1")
    except (EntrypointError, UnicodeEncodeError):
        return
    for worker in workers:
        assert set(worker.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert not worker.host.startswith("-")


def test_a_hostfile_that_is_not_there_is_named() -> None:
    with pytest.raises(EntrypointError, match=r"/nowhere: cannot be read .* of an MPIJob"):
        read_hostfile({HOSTFILE: "/nowhere"}, "8")


def test_a_pod_has_defaults_and_bad_values_are_named() -> None:
    told = read_pod({"MASK_RCNN_POD_UID": "1", "MASK_RCNN_INSTANCE_TYPE": "p4d.24xlarge"})
    assert told == POD._replace(name=told.name, instance_type="p4d.24xlarge")
    for name, value in [
        ("MASK_RCNN_WORKERS_WAIT_S", "0"),
        ("MASK_RCNN_WORKERS_WAIT_S", "ten"),
        ("MASK_RCNN_LEAST_HOSTS", "-1"),
        ("MASK_RCNN_INTERFACE", "eth0 -x"),
        ("MASK_RCNN_INSTANCE_TYPE", "p4d;x"),
    ]:
        with pytest.raises(EntrypointError, match=f"{name}: '{value}'; expected"):
            read_pod({name: value})


def test_mpirun_is_not_told_by_the_operator_but_by_the_user_it_is() -> None:
    environ = {
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        HOSTFILE: "/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        "OMPI_MCA_orte_set_default_slots": "8",
        "NVIDIA_VISIBLE_DEVICES": "",
        "K_MPI_JOB_ROLE": "launcher",
        "OMPI_MCA_btl_base_verbose": "30",
        "NCCL_DEBUG": "INFO",
    }
    assert own_variables(environ) == {"OMPI_MCA_btl_base_verbose": "30", "NCCL_DEBUG": "INFO"}


def test_the_key_is_copied_for_this_user_alone(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    words = ("-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-C", "")
    run("ssh-keygen", *words, "-f", str(keys / "id_rsa"))
    (keys / "id_rsa").chmod(0o644)
    key = take_key(POD._replace(keys=str(keys)), str(tmp_path))
    assert Path(key.path).read_bytes() == (keys / "id_rsa").read_bytes()
    assert stat.S_IMODE(Path(key.path).stat().st_mode) == 0o600
    assert key.public == (keys / "id_rsa.pub").read_text().strip()
    assert key.public.startswith("ecdsa-sha2-nistp521 AAAA")


def test_a_key_that_is_not_mounted_where_it_should_is_named(tmp_path: Path) -> None:
    said = f"{tmp_path}/id_rsa: cannot be read by user id {os.geteuid()} .No such file"
    with pytest.raises(EntrypointError, match=f"{said}.*sshAuthMountPath of the MPIJob"):
        take_key(POD._replace(keys=str(tmp_path)), str(tmp_path))
