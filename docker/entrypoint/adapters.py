"""The image's adapter: what one algorithm wants to be started with.

`adapter.py` beside this package has

    STOPS_WITH_CHECKPOINT            whether SIGTERM to a rank leads to a checkpoint
    prepare(job)                     on every host, before the ranks start
    command(job)                     the arguments of one rank
    environment(job)                 variables of every rank
    model_files(job)                 what goes to /opt/ml/model at the end

and may have

    outcome(job)                     {"status": completed|checkpointed|failed, "step", "message"} as
                                     the trainer itself wrote it, None where it wrote nothing
    CHECKPOINTS                      patterns of names in the log folder that are no results
    REPORTS                          whether training.report reads its log folder, and is there
"""

import importlib.util
import os
import sys
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

from .adapter_error import AdapterError
from .errors import EntrypointError
from .job import Job

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Where the image has this package, `adapter.py` and `algorithm`."""

CHECKPOINTS = ("checkpoints", "checkpoint", "model-*", "model.ckpt*")
"""The names of our trainer's checkpoints and of TensorFlow's."""


class Adapter:
    """An adapter whose mistakes name it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._module = self._load()
        self.stops_with_checkpoint = bool(getattr(self._module, "STOPS_WITH_CHECKPOINT", False))
        self.has_outcome = hasattr(self._module, "outcome")
        self.checkpoints: Tuple[str, ...] = tuple(getattr(self._module, "CHECKPOINTS", CHECKPOINTS))
        self.reports = bool(getattr(self._module, "REPORTS", False))

    def prepare(self, job: Job) -> None:
        self._call("prepare", job)

    def command(self, job: Job) -> List[str]:
        return [str(word) for word in self._call("command", job)]

    def environment(self, job: Job) -> Dict[str, str]:
        return {str(name): str(value) for name, value in self._call("environment", job).items()}

    def model_files(self, job: Job) -> List[str]:
        return [str(path) for path in self._call("model_files", job)]

    def outcome(self, job: Job) -> Dict[str, Any]:
        """Return how the trainer says that it ended; empty where it says nothing."""
        found = self._call("outcome", job) if self.has_outcome else None
        return found if isinstance(found, dict) else {}

    def _load(self) -> Any:
        spec = importlib.util.spec_from_file_location("adapter", self._path)
        if spec is None or spec.loader is None or not os.path.isfile(self._path):
            raise EntrypointError(f"{self._path}: is not there; the image was not built whole")
        module = importlib.util.module_from_spec(spec)
        sys.modules["adapter"] = module
        self._guard(lambda: spec.loader.exec_module(module), "import")  # type: ignore[union-attr]
        return module

    def _call(self, name: str, job: Job) -> Any:
        return self._guard(lambda: getattr(self._module, name)(job), name)

    def _guard(self, call: Callable[[], Any], what: str) -> Any:
        try:
            return call()
        except AdapterError as error:
            raise EntrypointError(str(error))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            raise EntrypointError(
                f"{self._path}: {what}: {type(error).__name__}: {error} "
                f"({frame.filename}, line {frame.lineno})"
            )


def load_adapter(algorithm: str, home: Optional[str] = None) -> Adapter:
    """Load the image's adapter.

    Raises:
        EntrypointError: The image is of another algorithm, or not whole.
    """
    folder = home or HOME
    name = os.path.join(folder, "algorithm")
    try:
        with open(name, encoding="utf-8") as file:
            of_image = file.read().strip()
    except OSError as error:
        raise EntrypointError(f"{name}: cannot be read ({error.strerror}); rebuild the image")
    if of_image != algorithm:
        raise EntrypointError(
            f"MASK_RCNN_ALGORITHM: the job is of {algorithm}, but this image is of {of_image}: "
            f"give the job an image of {algorithm}, or `--algorithm {of_image}`"
        )
    return Adapter(os.path.join(folder, "adapter.py"))
