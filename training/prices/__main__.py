"""`python -m training.prices`: each command is a module of this package and a line below."""

from __future__ import annotations

from training.cli import new_app, run
from training.prices.refresh import refresh

app = new_app("Look after the prices that plans use.")


@app.callback()
def prices() -> None:
    """Look after the prices that plans use: what AWS asks, with the day and the source."""


app.command("refresh")(refresh)

if __name__ == "__main__":
    run(app)
