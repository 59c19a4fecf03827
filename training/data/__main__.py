"""`python -m training.data`: shapes, stage, verify, check."""

from __future__ import annotations

from training.cli import new_app, run
from training.data.commands.check import check
from training.data.commands.shapes import shapes
from training.data.commands.stage import stage
from training.data.commands.verify import verify

app = new_app("COCO data: made, checked, staged to where jobs read it, and compared there.")

for command in (shapes, stage, verify, check):
    app.command()(command)

if __name__ == "__main__":
    run(app)
