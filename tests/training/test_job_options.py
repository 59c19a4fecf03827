"""The options of a job, as commands take them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from training.job_options import JobOptions, takes_job_options


def test_a_command_has_the_jobs_options_and_its_own() -> None:
    app, told = typer.Typer(), []

    @app.command()
    @takes_job_options
    def command(
        options: JobOptions, *, loud: Annotated[bool, typer.Option("--loud")] = False
    ) -> None:
        told.append((options, loud))

    words = ["job.yaml", "--data-source", "fsx", "--set", "a=1", "--set", "b=2", "--loud"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, []).exit_code == 0
    (options, loud), nothing = told
    assert (options.job_file, options.data_source, options.assignments, loud) == (
        Path("job.yaml"),
        "fsx",
        ["a=1", "b=2"],
        True,
    )
    assert options.say_something
    assert nothing == (JobOptions(), False)
    assert not JobOptions().say_something


def test_every_option_says_what_it_is_for() -> None:
    app = typer.Typer()
    app.command()(takes_job_options(lambda options: None))
    [command] = [typer.main.get_command(app)]
    params = {param.name: param for param in command.params}
    for each in fields(JobOptions):
        assert getattr(params[each.name], "help", None), each.name
