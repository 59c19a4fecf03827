"""What nvidia-smi says, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.health.check import Check, failed, ok
from node.health.gpus import check_gpus, judge_gpus, judge_memory

A100 = "{}, 550.163.01, {}, [N/A]\n"
V100 = "{}, 550.163.01, 0, {}\n"
REMAPPED = "00000000:10:1C.0, {}, {}\n"


def test_all_gpus_of_the_type_are_well() -> None:
    text = "".join(A100.format(index, 0) for index in range(8))
    assert list(judge_gpus(text, 8)) == [ok("gpus", 8), ok("driver", "550.163.01")]
    assert judge_memory(text, REMAPPED.format(0, 0) * 8) == ok("ecc", 0)


def test_a_gpu_that_is_gone_is_counted() -> None:
    text = "".join(A100.format(index, 0) for index in range(7))
    [gpus, _] = judge_gpus(text, 8)
    assert gpus == failed(
        "gpus",
        "7 of the 8 GPUs of the instance type are there: one has failed. Replace the node",
        7,
    )


@pytest.mark.parametrize(
    ("text", "remapped", "status", "said"),
    [
        (A100.format(3, 2), "", "failed", "uncorrected memory errors since the start (GPU 3: 2)"),
        (A100.format(0, 0), REMAPPED.format(0, 1), "failed", "no spare memory rows are left"),
        (A100.format(0, 0), REMAPPED.format(1, 0), "failed", "put aside at the next reset (000"),
        (V100.format(5, "Yes"), "", "failed", "put aside at the next reset (GPU 5)"),
        (V100.format(5, "No"), "", "ok", ""),
        # A GPU without ECC, such as some T4, has nothing to count.
        ("0, 550.1, [N/A], [N/A]\n", "[N/A], [N/A], [N/A]\n", "ok", ""),
    ],
)
def test_errors_of_the_memory_are_told(text: str, remapped: str, status: str, said: str) -> None:
    check = judge_memory(text, remapped)
    assert check.status == status
    assert said in check.message


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program nvidia-smi, which a test writes; nothing else is found."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "nvidia-smi"


def looked(expected: int, timeout_s: float = 10) -> list[Check]:
    return list(check_gpus(expected, timeout_s=timeout_s))


def test_an_image_without_driver_is_named(smi: Path) -> None:
    [check] = looked(8)
    assert check.status == "failed"
    assert "there is no nvidia-smi, and the instance type has 8 GPU(s): the machine image" in (
        check.message
    )


def test_nvidia_smi_that_hangs_is_a_gpu_that_hangs(smi: Path) -> None:
    smi.write_text("#!/bin/sh\nsleep 60\n")
    smi.chmod(0o755)
    [check] = looked(8, 0.3)
    assert check.message == (
        "nvidia-smi did not answer within 0.3 s: a GPU hangs. Replace the node"
    )


def test_its_own_words_are_kept(smi: Path) -> None:
    smi.write_text("#!/bin/sh\necho 'Failed to initialize NVML: Driver mismatch' >&2; exit 18\n")
    smi.chmod(0o755)
    [check] = looked(1)
    assert check.message == "nvidia-smi: Failed to initialize NVML: Driver mismatch"


def test_both_queries_are_made(smi: Path) -> None:
    smi.write_text(
        '#!/bin/sh\ncase "$1" in --query-gpu=*) echo "0, 550.1, 0, [N/A]";; '
        '*) echo "00000000:00:1E.0, 1, 0";; esac\n'
    )
    smi.chmod(0o755)
    assert [(check.name, check.status) for check in looked(1)] == [
        ("gpus", "ok"),
        ("driver", "ok"),
        ("ecc", "failed"),
    ]


def test_a_node_without_gpus_is_not_asked(smi: Path) -> None:
    assert looked(0) == []
