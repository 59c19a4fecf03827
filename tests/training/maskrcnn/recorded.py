"""What ranks started by `recorded_rank.py` noted, put together to the stream of pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.layout import LogChannel

SCRIPT = Path(__file__).with_name("recorded_rank.py")
PICTURES = 18
"""With objects, of the fixture `shapes`."""

Drawn = dict[int, list[tuple[int, int, list[str]]]]
"""By position: rank, size and pictures of each rank that began a step there."""


@dataclass(frozen=True)
class Recorded:
    """A run's notes and metrics."""

    folder: Path
    log: LogChannel
    batch_size: int
    images_per_epoch: int

    def lines(self) -> list[dict[str, Any]]:
        """Return the metrics of training steps; a line that is being written is left out."""
        if not self.log.metrics.exists():
            return []
        whole = self.log.metrics.read_text(encoding="utf-8").rpartition("\n")[0]
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if line["kind"] == "train"]

    def steps(self) -> int:
        return max((line["step"] for line in self.lines()), default=0)

    def drawn(self) -> Drawn:
        found: Drawn = {}
        for file in self.folder.glob("*.jsonl"):
            whole = file.read_text(encoding="utf-8").rpartition("\n")[0]
            for line in whole.splitlines():
                position, rank, size, names = json.loads(line)
                found.setdefault(position, []).append((rank, size, names))
        return found

    def stream(self) -> list[str]:
        """Return the pictures of the steps that count, those of the metrics, in their order."""
        drawn = self.drawn()
        names: list[str] = []
        for line in self.lines():
            seen = round(line["epoch"] * self.images_per_epoch) - len(names)
            size, rest = divmod(seen, self.batch_size)
            assert not rest, line
            of_ranks = {rank: own for rank, of_size, own in drawn[len(names)] if of_size == size}
            assert sorted(of_ranks) == list(range(size)), (line, drawn[len(names)])
            names += [name for rank in range(size) for name in of_ranks[rank]]
        return names

    def check(self, images: int) -> None:
        """Check that the steps are numbered without a gap, and that each pass over the data, to
        the end, has every picture once."""
        lines, stream = self.lines(), self.stream()
        assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
        assert len(stream) >= images
        for begin in range(0, len(stream), PICTURES):
            of_pass = stream[begin : begin + PICTURES]
            assert len(set(of_pass)) == len(of_pass), f"twice in the pass from {begin}"
        assert len(set(stream[:PICTURES])) == min(PICTURES, len(stream))
