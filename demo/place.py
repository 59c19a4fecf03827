"""Where the demo keeps its things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Place:
    """A folder for all that the demo leaves behind.

    Removing it makes the next run start from nothing.
    """

    root: Path = PROJECT / ".localaws" / "demo"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def aws(self) -> Path:
        """State directory of the demo's own local AWS."""
        return self.root / "aws"

    @property
    def aws_version(self) -> Path:
        """Stamp of the local AWS that wrote its state."""
        return self.root / "aws-version"

    @property
    def outputs(self) -> Path:
        """What `cdk deploy --outputs-file` writes."""
        return self.root / "outputs.json"

    @property
    def deployed(self) -> Path:
        """Stamp of the sources that were deployed last."""
        return self.root / "deployed"

    @property
    def shapes(self) -> Path:
        """The synthetic data set."""
        return self.root / "shapes"

    @property
    def shapes_drawn(self) -> Path:
        """Stamp of the sources that drew `shapes`."""
        return self.root / "shapes-drawn"

    def log(self, step: str) -> Path:
        """Everything that a step's commands print."""
        return self.root / "logs" / f"{step}.log"

    def result(self, job: str) -> Path:
        """What the launcher says of a job that is done (JSON)."""
        return self.root / "results" / f"{job}.json"

    def report(self, job: str) -> Path:
        """A copy of the last report of a job, which stays when local AWS starts from nothing."""
        return self.root / "reports" / f"{job}.html"
