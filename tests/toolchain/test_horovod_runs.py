"""The wheel that set-up built runs two ranks, over gloo and over MPI (horovod/horovod#3996)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import torch, horovod.torch as hvd
hvd.init()
mine = torch.full((1000,), float(hvd.rank() + 1))
total = hvd.allreduce(mine, op=hvd.Sum)
root = hvd.broadcast(torch.tensor([hvd.rank() + 40]), root_rank=1)
result = (hvd.rank(), hvd.size(), tuple(total.unique().tolist()), int(root),
          hvd.mpi_enabled(), hvd.gloo_enabled())
print(f"RESULT {result}", flush=True)
"""


@pytest.mark.parametrize(
    ("controller", "mpi", "gloo"), [("gloo", False, True), ("mpi", True, False)]
)
def test_two_ranks_sum_and_broadcast(
    controller: str, mpi: bool, gloo: bool, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    horovodrun = Path(sys.executable).with_name("horovodrun")
    done = subprocess.run(
        [horovodrun, "-np", "2", f"--{controller}", "--network-interfaces", "lo",
         sys.executable, program],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    # mpirun may put the lines of both ranks into one.
    texts = re.findall(r"RESULT (\(\d+, \d+, \([^()]*\), [^()]*\))", done.stdout)
    results = {ast.literal_eval(text) for text in texts}
    assert results == {(rank, 2, (3.0,), 41, mpi, gloo) for rank in range(2)}
