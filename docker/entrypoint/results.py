"""What a job leaves: the model to /opt/ml/model, everything else to /opt/ml/output/data."""

import fnmatch
import os
import shutil
from typing import Iterator, List, Sequence

from .errors import EntrypointError


def keep_model(files: Sequence[str], folder: str) -> None:
    """Copy the model's files.

    Raises:
        EntrypointError: There are none, or no room for them.
    """
    if not files:
        raise EntrypointError("the job trained to its end, but left no model")
    _copy_all(files, [os.path.join(folder, os.path.basename(path)) for path in files], folder)


def keep_results(log: str, folder: str, models: Sequence[str], checkpoints: Sequence[str]) -> None:
    """Copy the log folder, but for models, checkpoints and hidden files.

    Raises:
        EntrypointError: There is no room for them.
    """
    left_out = {os.path.realpath(path) for path in models}
    files = [path for path in _files(log, checkpoints) if os.path.realpath(path) not in left_out]
    _copy_all(files, [os.path.join(folder, os.path.relpath(path, log)) for path in files], folder)


def _files(log: str, left_out: Sequence[str]) -> Iterator[str]:
    for folder, folders, names in os.walk(log):
        if folder == log:
            folders[:] = [name for name in folders if not _matches(name, left_out)]
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            is_left_out = name.startswith(".") or (folder == log and _matches(name, left_out))
            # A pipe or a link that leads nowhere would stop the copy for ever, or with an error.
            if not is_left_out and os.path.isfile(path):
                yield path


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _copy_all(sources: Sequence[str], targets: List[str], folder: str) -> None:
    size = 0
    try:
        for source, target in zip(sources, targets):
            size = os.path.getsize(source)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _copy(source, target)
    except OSError as error:
        raise EntrypointError(
            f"{source} ({size / 2**20:.1f} MiB) cannot be copied to {target}: {error.strerror}; "
            f"{folder} has {_free_mib(folder)} MiB free. It lies on the instance's volume: give "
            "the job a larger one (sagemaker.volume_gib)"
        )


def _copy(source: str, target: str) -> None:
    """Copy a file, and find out now whether the disk took it."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        shutil.copyfileobj(reader, writer, 1 << 20)
        writer.flush()
        os.fsync(writer.fileno())


def _free_mib(folder: str) -> str:
    try:
        return f"{shutil.disk_usage(folder).free / 2**20:.0f}"
    except OSError:
        return "unknown"
