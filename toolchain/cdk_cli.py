"""The CDK CLI from npm, as package-lock.json pins it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolchain.files import Stamp, fingerprint
from toolchain.processes import Progress, run


@dataclass(frozen=True)
class CdkCli:
    """The CDK CLI below a project's node_modules."""

    project: Path
    log: Path

    def is_installed(self) -> bool:
        return self._stamp().is_fresh() and (self._modules / ".bin" / "cdk").exists()

    def install(self, progress: Progress) -> None:
        """Install it; npm removes what was there, so the stamp goes with it."""
        run(
            ["npm", "ci", "--no-audit", "--no-fund"],
            cwd=self.project,
            log=self.log,
            progress=progress,
            advice="The CDK CLI could not be installed. It needs the network, or a registry that "
            "npm is set up for. Then run it again.",
        )
        self._stamp().write()

    @property
    def _modules(self) -> Path:
        return self.project / "node_modules"

    def _stamp(self) -> Stamp:
        inputs = fingerprint(self.project / "package.json", self.project / "package-lock.json")
        return Stamp(self._modules / ".setup", inputs)
