"""`python -m training.jobs`: each command is a module of this package and a line below."""

from __future__ import annotations

from training.cli import new_app, run
from training.jobs.compare import compare
from training.jobs.cost import cost
from training.jobs.health import health
from training.jobs.list import list_jobs
from training.jobs.logs import logs
from training.jobs.report import report
from training.jobs.status import status
from training.jobs.stop import stop

app = new_app("Look after jobs.")


@app.callback()
def jobs() -> None:
    """Look after jobs: what they do, what they did, and what they leave."""


app.command("list")(list_jobs)
app.command("status")(status)
app.command("logs")(logs)
app.command("stop")(stop)
app.command("report")(report)
app.command("compare")(compare)
app.command("cost")(cost)
app.command("health")(health)

if __name__ == "__main__":
    run(app)
