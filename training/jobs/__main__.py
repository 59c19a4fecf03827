"""`python -m training.jobs`: each command is a module of this package and a line below."""

from __future__ import annotations

from training.cli import new_app, run
from training.jobs.report import report

app = new_app("Look after jobs.")


@app.callback()
def jobs() -> None:
    """Look after jobs: what they did, and what they leave."""


app.command("report")(report)

if __name__ == "__main__":
    run(app)
