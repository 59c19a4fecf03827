"""`python -m training.images`: each command is a module of this package and a line below."""

from __future__ import annotations

from training.cli import new_app, run
from training.images.audit import audit
from training.images.build import build
from training.images.listing import list_images
from training.images.push import push
from training.images.sbom import sbom

app = new_app("Training images.")


@app.callback()
def images() -> None:
    """Build the images that jobs run in, and push them."""


app.command("build")(build)
app.command("push")(push)
app.command("list")(list_images)
app.command("sbom")(sbom)
app.command("audit")(audit)

if __name__ == "__main__":
    run(app)
