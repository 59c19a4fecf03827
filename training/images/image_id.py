"""The id that an engine gives an image."""

from __future__ import annotations

from training.container_engine import Engine


def image_id(engine: Engine, image: str) -> str | None:
    """Return `sha256:…`: the digest of the image's configuration; None where it is not here.

    Where docker keeps images as registries do (containerd's image store), it is the manifest's.
    """
    words = (
        ("inspect", "--type", "image", "--format", "{{.FromImageID}}")
        if engine.name == "buildah"
        else ("image", "inspect", "--format", "{{.Id}}")
    )
    answer = engine.ask(*words, image)
    text = answer.stdout.strip()
    if answer.returncode or not text:
        return None
    return text if text.startswith("sha256:") else f"sha256:{text}"
