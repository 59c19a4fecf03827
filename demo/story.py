"""The demo as a list of steps."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from demo.local_aws import LocalAws
from demo.place import PROJECT, Place
from demo.results import LOSS_HALVED, SHAPES_LEARNED, Goal, check, find_log, read_learned
from localaws.environment import ACCOUNT_ID, DEFAULT_REGION
from toolchain.files import Stamp, fingerprint
from toolchain.processes import Progress, Text, run
from toolchain.steps import Step
from training.job import JobSpec, read_job

STACKS = ("NetworkStack", "StorageStack", "RegistryStack")
BOOTSTRAP_STACK = "CDKToolkit"

METRIC = re.compile(r"\[rank \d+\] \S+: \S+")
"""A line of a job's output that is for programs; its lines `step …` are for people."""

CDK = PROJECT / "node_modules" / ".bin" / "cdk"

SHAPES_TRAIN = 2000
SHAPES_VAL = 200


@dataclass(frozen=True)
class DemoJob:
    """A job of the demo.

    Attributes:
        title: What it trains on, for people.
        spec: Its job spec's file; the file's name without `.yaml` names logs and results.
        data: The folder that its data is staged from.
        goal: What it must learn.
    """

    title: str
    spec: Path
    data: Path
    goal: Goal

    @property
    def name(self) -> str:
        return self.spec.stem

    def read(self) -> JobSpec:
        return read_job(self.spec, {}).spec


def demo_jobs(place: Place) -> tuple[DemoJob, ...]:
    folder = PROJECT / "jobs"
    sample = PROJECT / "tests" / "data" / "coco"
    return (
        DemoJob("real pictures", folder / "demo-coco.yaml", sample, LOSS_HALVED),
        DemoJob("shapes", folder / "demo-shapes.yaml", place.shapes, SHAPES_LEARNED),
    )


@dataclass(frozen=True)
class Story:
    """Everything that the demo does, in order."""

    place: Place
    aws: LocalAws
    jobs: tuple[DemoJob, ...]

    def steps(self) -> Iterator[Step]:
        yield Step("Start local AWS", self.aws.start)
        yield Step("Bootstrap the CDK", self.bootstrap, self.is_bootstrapped)
        yield Step("Deploy the stacks", self.deploy, self.is_deployed)
        yield Step("Draw shapes", self.draw_shapes)
        for job in self.jobs:
            yield Step(f"Stage {job.title}", partial(self.stage, job))
        for job in self.jobs:
            yield Step(f"Train on {job.title}", partial(self.train, job))
        yield Step("Stop local AWS", self.aws.stop)

    def is_bootstrapped(self) -> bool:
        return BOOTSTRAP_STACK in self.aws.stacks()

    def bootstrap(self, progress: Progress) -> None:
        """Make the CDK's own stack, which holds what deployments need."""
        self._cdk("bootstrap", f"aws://{ACCOUNT_ID}/{DEFAULT_REGION}", progress=progress)

    def is_deployed(self) -> bool:
        """Whether the stacks are there as the sources have them."""
        return (
            self._deployed().is_fresh()
            and self.place.outputs.exists()
            and self.aws.stacks().issuperset(STACKS)
        )

    def deploy(self, progress: Progress) -> None:
        self._deployed().remove()
        self._cdk(
            "deploy", *STACKS,
            f"--outputs-file={self.place.outputs}", f"--output={self.place.root / 'cdk.out'}",
            progress=progress,
        )  # fmt: skip
        self._deployed().write()

    def draw_shapes(self, progress: Progress) -> None:
        """Draw the set, and draw it anew where an older version of this program drew it."""
        drawn = Stamp(self.place.shapes_drawn, fingerprint(*_drawing_sources()))
        if not drawn.is_fresh():
            shutil.rmtree(self.place.shapes, ignore_errors=True)
        self._python(
            "training.data", "shapes", "--out", self.place.shapes,
            "--train", str(SHAPES_TRAIN), "--val", str(SHAPES_VAL),
            log="shapes", progress=progress,
        )  # fmt: skip
        drawn.write()

    def stage(self, job: DemoJob, progress: Progress) -> None:
        """Copy a job's data to S3 and, where the job reads a file system, from there to it."""
        spec = job.read()
        stage = ("training.data", "stage")
        to = ("--path", spec.channels.train, "--outputs-file", self.place.outputs)
        log = f"stage-{job.name}"
        self._python(*stage, job.data, "--to", "s3", *to, log=log, progress=progress)
        if spec.data_source != "s3":
            self._python(*stage, "--to", spec.data_source, *to, log=log, progress=progress)

    def train(self, job: DemoJob, progress: Progress) -> None:
        """Train, keep the report, and compare what was learned with what must be."""

        def show(text: Text) -> None:
            if not METRIC.fullmatch(str(text)):
                progress(text)

        self._python(
            "training.launch", job.spec, "--outputs-file", self.place.outputs, "--yes",
            "--format", "json", log=job.name, progress=show, stdout=self.place.result(job.name),
        )  # fmt: skip
        log = find_log(self.place.result(job.name))
        report = self.place.report(job.name)
        report.parent.mkdir(exist_ok=True)
        shutil.copyfile(log.report, report)
        check(job.title, read_learned(log), job.goal)

    def _deployed(self) -> Stamp:
        return Stamp(self.place.deployed, fingerprint(*_stack_sources()))

    def _cdk(self, *arguments: str, progress: Progress) -> None:
        self._run(
            PROJECT / "node_modules" / ".bin" / "cdk", *arguments, log="cdk", progress=progress
        )

    def _python(
        self,
        *arguments: str | Path,
        log: str,
        progress: Progress,
        stdout: Path | None = None,
    ) -> None:
        self._run(sys.executable, "-m", *arguments, log=log, progress=progress, stdout=stdout)

    def _run(
        self, *command: str | Path, log: str, progress: Progress, stdout: Path | None = None
    ) -> None:
        run(
            command,
            cwd=PROJECT,
            base_env=self.aws.environ,
            log=self.place.log(log),
            progress=progress,
            advice="The demo stops here; once that is put right, run it again.",
            stdout=stdout,
        )


def _stack_sources() -> list[Path]:
    """Return every file that a template depends on."""
    return [
        PROJECT / "app.py",
        PROJECT / "cdk.json",
        PROJECT / "constraints.txt",
        PROJECT / "training" / "outputs.py",
        *sorted((PROJECT / "stacks").rglob("*.py")),
    ]


def _drawing_sources() -> list[Path]:
    """Return every file that the shapes depend on."""
    folder = PROJECT / "training" / "data"
    return [folder / name for name in ("shapes.py", "scene.py", "outline.py")]
