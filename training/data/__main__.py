"""`python -m training.data`: download, shapes, stage, fetch, verify, check, subset, pack."""

from __future__ import annotations

import sys

from training.cli import new_app, run
from training.data.commands.check import check
from training.data.commands.download import download
from training.data.commands.fetch import fetch
from training.data.commands.pack import pack
from training.data.commands.shapes import shapes
from training.data.commands.stage import stage
from training.data.commands.subset import subset
from training.data.commands.verify import verify
from training.errors import UsageError

app = new_app(
    "COCO data: fetched, made, checked, staged to where jobs read it, and compared there."
)


@app.callback()
def refuse_empty_arguments() -> None:
    """Refuse an empty argument, such as a variable that is not set leaves.

    As a path it would mean the folder that this runs in.
    """
    if "" in sys.argv[1:]:
        raise UsageError("an argument is empty. Is a variable not set that it is made of?")


for command in (download, shapes, stage, fetch, verify, check, subset, pack):
    app.command()(command)

if __name__ == "__main__":
    run(app)
