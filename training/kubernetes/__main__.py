"""`python -m training.kubernetes`: each command is a module of this package and a line below."""

from __future__ import annotations

from training.cli import new_app, run
from training.kubernetes.attach import attach
from training.kubernetes.install import install
from training.kubernetes.listing import list_images
from training.kubernetes.status import status
from training.kubernetes.uninstall import uninstall

app = new_app("The EKS cluster from the inside.")


@app.callback()
def kubernetes() -> None:
    """Install what jobs need in the EKS cluster, and look at it."""


app.command("install")(install)
app.command("status")(status)
app.command("images")(list_images)
app.command("attach")(attach)
app.command("uninstall")(uninstall)

if __name__ == "__main__":
    run(app)
