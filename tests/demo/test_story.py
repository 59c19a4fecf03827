"""The steps run the real commands, in an order in which each has what it needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from demo import story
from demo.local_aws import LocalAws
from demo.place import PROJECT, Place
from demo.results import Goal
from demo.story import BOOTSTRAP_STACK, STACKS, DemoJob, Story, demo_jobs
from training.errors import JobFailed

EASY = Goal("anything", lambda learned: True)


def quiet(text: object) -> None:
    pass


class FakeAws(LocalAws):
    there: frozenset[str] = frozenset()

    def stacks(self) -> set[str]:
        return set(self.there)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that were run, without the interpreter."""
    recorded: list[list[str]] = []

    def record(command: tuple[Any, ...], **options: Any) -> None:
        words = [str(word) for word in command]
        recorded.append(words[2:] if words[0] == sys.executable else words)
        assert options["base_env"] == {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
        if options["stdout"] is not None:
            log = options["log"].parent / "channel"
            log.mkdir(parents=True, exist_ok=True)
            (log / "report.html").write_text("report")
            values = {"total_loss": 1.0, "mAP(segm)/IoU=0.5": 1, "mAP(segm)/IoU=0.5:0.95": 1}
            line = {"kind": "evaluation", "step": 1, "epoch": 1, "time_s": 0, "values": values}
            (log / "metrics.jsonl").write_text(json.dumps(line))
            options["stdout"].parent.mkdir(exist_ok=True)
            options["stdout"].write_text(json.dumps({"log": str(log)}))

    monkeypatch.setattr(story, "run", record)
    return recorded


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def make_story(place: Place, spec_text: str, goal: Goal = EASY) -> Story:
    spec = place.root / "job.yaml"
    spec.write_text(spec_text)
    aws = FakeAws(place, 0, {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    return Story(place, aws, (DemoJob("things", spec, place.root / "data", goal),))


def test_steps_are_in_the_order_of_what_they_need(place: Place) -> None:
    titles = [step.title for step in make_story(place, "").steps()]
    assert titles == [
        "Start local AWS",
        "Bootstrap the CDK",
        "Deploy the stacks",
        "Draw shapes",
        "Stage things",
        "Train on things",
        "Stop local AWS",
    ]


def test_data_goes_to_s3_and_from_there_to_the_file_system(
    place: Place, calls: list[list[str]]
) -> None:
    told = make_story(place, "data_source: efs\nchannels: {train: mask-rcnn/things}\n")
    told.stage(told.jobs[0], quiet)
    tail = ["--path", "mask-rcnn/things", "--outputs-file", str(place.outputs)]
    assert calls == [
        ["training.data", "stage", str(place.root / "data"), "--to", "s3", *tail],
        ["training.data", "stage", "--to", "efs", *tail],
    ]


def test_data_on_s3_is_copied_once(place: Place, calls: list[list[str]]) -> None:
    told = make_story(place, "data_source: s3\n")
    told.stage(told.jobs[0], quiet)
    assert [call[call.index("--to") + 1] for call in calls] == ["s3"]


def test_deploy_is_the_real_cli_with_the_stacks_of_the_readme(
    place: Place, calls: list[list[str]]
) -> None:
    told = make_story(place, "")
    told.bootstrap(quiet)
    told.deploy(quiet)
    cdk = str(PROJECT / "node_modules/.bin/cdk")
    assert calls[0] == [cdk, "bootstrap", "aws://123456789012/us-east-1"]
    assert calls[1][:5] == [cdk, "deploy", *STACKS]
    options = [word.split("=")[0] for word in calls[1][5:]]
    assert options == ["--outputs-file", "--output"]


def test_deploy_is_skipped_while_stacks_outputs_and_sources_are_there(
    place: Place, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = make_story(place, "")
    assert not told.is_bootstrapped()
    assert not told.is_deployed()
    told.deploy(quiet)
    place.outputs.write_text("{}")
    monkeypatch.setattr(FakeAws, "there", frozenset({*STACKS, BOOTSTRAP_STACK}))
    assert told.is_bootstrapped()
    assert told.is_deployed()

    monkeypatch.setattr(FakeAws, "there", frozenset(STACKS[:2]))
    assert not told.is_deployed(), "local AWS lost a stack"
    monkeypatch.setattr(FakeAws, "there", frozenset(STACKS))
    monkeypatch.setattr(story, "_stack_sources", lambda: [place.outputs])
    assert not told.is_deployed(), "a source changed"


def test_training_keeps_the_report(place: Place, calls: list[list[str]]) -> None:
    told = make_story(place, "")
    told.train(told.jobs[0], quiet)
    assert calls[0][:2] == ["training.launch", str(place.root / "job.yaml")]
    assert "--yes" in calls[0]
    assert place.report("job").read_text() == "report"


def test_training_that_learned_too_little_fails_but_keeps_the_report(
    place: Place, calls: list[list[str]]
) -> None:
    told = make_story(place, "", Goal("pigs fly", lambda learned: False))
    with pytest.raises(JobFailed, match=r"^things: .*; expected that pigs fly$"):
        told.train(told.jobs[0], quiet)
    assert place.report("job").read_text() == "report"


def test_specs_of_the_demo_are_valid_and_read_different_data(place: Place) -> None:
    jobs = demo_jobs(place)
    paths = [job.read().channels.train for job in jobs]
    assert len(set(paths)) == len(paths) == 2
    assert all(job.read().platform == "local" for job in jobs)
    assert all(job.read().instances.processes_per_instance == 2 for job in jobs)
