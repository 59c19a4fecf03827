"""The project's virtual environment, `.venv`, and what pip puts into it."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from toolchain.files import Stamp, fingerprint
from toolchain.horovod_wheel import WheelBuilder
from toolchain.processes import Progress, Text, run

EVERYTHING = "requirements-dev.txt"
"""The requirements file that includes all others."""

REQUIREMENTS = (
    "requirements.txt",
    "requirements-train.txt",
    "requirements-export.txt",
    EVERYTHING,
)

ADVICE = "This needs the network, or a mirror that pip is set up for. Then run it again."

HOROVOD_CHECK = (
    "import horovod.torch as hvd, sys; "
    "sys.exit(0 if hvd.gloo_built() and hvd.mpi_built() else 'Horovod lacks gloo or MPI')"
)


@dataclass(frozen=True)
class Environment:
    """The virtual environment of one project.

    Attributes:
        project: The project's folder.
        requirements: Name of the requirements file to install.
        wheels: Folder of Horovod's built wheels.
        log: File for what the commands print.
    """

    project: Path
    requirements: str
    wheels: Path
    log: Path

    @property
    def folder(self) -> Path:
        return self.project / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def is_usable(self) -> bool:
        """Whether it is whole, and lies where it was made: its scripts name the place."""
        try:
            settings = (self.folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        return (
            any(x.startswith("command = ") and x.endswith(f" {self.folder}") for x in settings)
            and (self.folder / "bin" / "pip").exists()
            and self.python.exists()
            and not self._unfinished.exists()
        )

    def create(self, progress: Progress) -> None:
        """Make it anew, empty; a broken or half-made one goes first."""
        if self.folder.exists():
            progress("removing the one that is not whole")
            # Removal can be cut short too: what is left must not look whole.
            (self.folder / "pyvenv.cfg").unlink(missing_ok=True)
            shutil.rmtree(self.folder)
        progress(f"making {self.folder}")
        self._mark_unfinished()
        run(
            [sys.executable, "-m", "venv", self.folder],
            log=self.log,
            progress=progress,
            advice=f"{self.folder} could not be made.",
        )

    def has_packages(self) -> bool:
        """Whether the requirements, or all that there are, have been installed."""
        return self._packages(self.requirements).is_fresh() or self._packages(EVERYTHING).is_fresh()

    def install_packages(self, progress: Progress) -> None:
        """Install the requirements, each version as constraints.txt says."""
        self._mark_unfinished()
        self._pip_install("--requirement", self.requirements, progress=self._counting(progress))
        self._unfinished.unlink()
        self._packages(self.requirements).write()

    def has_horovod(self) -> bool:
        return self._horovod().is_fresh()

    def install_horovod(self, progress: Progress) -> None:
        """Install Horovod's wheel, built now unless it is cached, and try it."""
        wheel = self._wheel_builder().build(progress)
        self._horovod().remove()
        self._pip_install("--no-deps", "--force-reinstall", wheel, progress=progress)
        progress("trying it")
        run(
            [self.python, "-c", HOROVOD_CHECK],
            log=self.log,
            progress=progress,
            advice=f"Horovod was built but does not work. To build it anew, remove {wheel.parent}",
        )
        self._horovod().write()

    @property
    def _setup_folder(self) -> Path:
        return self.folder / "setup"

    @property
    def _unfinished(self) -> Path:
        """Exists until all packages are in: to pip, one that was cut short looks installed."""
        return self._setup_folder / "unfinished"

    def _mark_unfinished(self) -> None:
        self._setup_folder.mkdir(parents=True, exist_ok=True)
        self._unfinished.touch()

    @property
    def _site_packages(self) -> Path:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / name / "site-packages"

    def _packages(self, requirements: str) -> Stamp:
        files = (*REQUIREMENTS, "constraints.txt")
        inputs = fingerprint(platform.python_version(), *(self.project / name for name in files))
        return Stamp(self._setup_folder / requirements, inputs)

    def _horovod(self) -> Stamp:
        return Stamp(self._setup_folder / "horovod", fingerprint(self._wheel_builder().key))

    def _wheel_builder(self) -> WheelBuilder:
        found = next(self._site_packages.glob("torch-*.dist-info"), None)
        version = found.name.removeprefix("torch-").removesuffix(".dist-info") if found else "none"
        return WheelBuilder(self.python, version, self.wheels, self.log)

    def _pip_install(self, *arguments: str | Path, progress: Progress) -> None:
        downloads = self._setup_folder / "downloads"
        downloads.mkdir(exist_ok=True)
        run(
            [
                self.python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
                "--progress-bar", "off", "--constraint", "constraints.txt", *arguments,
            ],
            cwd=self.project,
            log=self.log,
            progress=progress,
            advice=ADVICE,
            # pip downloads gigabytes to a temporary folder first; /tmp may be small.
            env={"TMPDIR": str(downloads)},
        )  # fmt: skip
        shutil.rmtree(downloads, ignore_errors=True)

    def _counting(self, progress: Progress) -> Progress:
        """Return a progress that counts packages while pip, silent for a minute, installs them."""
        pins = (self.project / "constraints.txt").read_text(encoding="utf-8").count("==")
        total = f" of {pins}" if self.requirements == EVERYTHING else ""

        def count() -> str:
            return f"{sum(1 for _ in self._site_packages.glob('*.dist-info'))}{total} installed"

        is_installing = False

        def show(text: Text) -> None:
            nonlocal is_installing
            is_installing = is_installing or str(text).startswith("Installing collected packages")
            progress(count if is_installing else text)

        return show
