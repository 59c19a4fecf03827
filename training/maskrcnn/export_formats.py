"""The formats that a model is exported to: how each is made, and run without this package."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from training.errors import UsageError
from training.maskrcnn.data.batch import STRIDE

INPUTS = ("pixels", "size")
OUTPUTS = ("boxes", "labels", "scores", "masks")
METADATA = "metadata.json"
"""Its name in a .pt2 file; in an .onnx file it is the property `metadata`."""
LEAST_SIDE, MOST_SIDE = 3 * STRIDE, 128 * STRIDE
"""Pixels: heights and widths that a model of any size takes. Below it the coarsest level has one
place, which torch.export takes for another kind of tensor."""
ONNX_OPSET = 18
"""The first one whose RoiAlign and NonMaxSuppression are those of torchvision, and the one that
torch's exporter writes without conversion."""

Run = Callable[[Tensor, Tensor], tuple[Tensor, ...]]


class ExportFormat(Protocol):
    """One kind of file."""

    def check_here(self) -> None:
        """Raise UsageError where a package is missing."""

    def write(
        self, model: nn.Module, example: tuple[Tensor, Tensor], dynamic: bool, metadata: str
    ) -> bytes:
        """Return the file's content.

        Args:
            example: Pixels and size, as the model takes them.
            dynamic: Height and width may differ from the example's.
            metadata: JSON that goes into the file.
        """

    def read(self, content: bytes) -> Run:
        """Return what runs the file, as its users would run it."""


class TorchExport:
    """`torch.export`: read by `torch.export.load`, after `import torchvision`."""

    def check_here(self) -> None:
        pass

    def write(
        self, model: nn.Module, example: tuple[Tensor, Tensor], dynamic: bool, metadata: str
    ) -> bytes:
        buffer = io.BytesIO()
        with _quiet(), torch.no_grad():
            program = torch.export.export(model, example, dynamic_shapes=_dynamic_shapes(dynamic))
            torch.export.save(program, buffer, extra_files={METADATA: metadata})
        return buffer.getvalue()

    def read(self, content: bytes) -> Run:
        with _quiet():
            run: Run = torch.export.load(io.BytesIO(content)).module()
        return run


class Onnx:
    """ONNX: read by onnxruntime and by many others."""

    def check_here(self) -> None:
        missing = [
            name for name in ("onnx", "onnxscript", "onnxruntime") if find_spec(name) is None
        ]
        if missing:
            raise UsageError(
                f"an .onnx file needs {', '.join(missing)}: pip install -r requirements-export.txt"
            )

    def write(
        self, model: nn.Module, example: tuple[Tensor, Tensor], dynamic: bool, metadata: str
    ) -> bytes:
        has_masks = json.loads(metadata)["outputs"].get("masks") is not None
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                model,
                example,
                dynamo=True,
                verbose=False,
                opset_version=ONNX_OPSET,
                input_names=INPUTS,
                output_names=OUTPUTS if has_masks else OUTPUTS[:3],
                dynamic_shapes=_dynamic_shapes(dynamic),
            )
        assert program is not None
        proto: Any = program.model_proto
        entry = proto.metadata_props.add()
        entry.key, entry.value = "metadata", metadata
        content: bytes = proto.SerializeToString()
        return content

    def read(self, content: bytes) -> Run:
        import onnxruntime

        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])

        def run(pixels: Tensor, size: Tensor) -> tuple[Tensor, ...]:
            inputs = dict(zip(INPUTS, (pixels.numpy(), size.numpy()), strict=True))
            return tuple(torch.from_numpy(output) for output in session.run(None, inputs))

        return run


FORMATS: Mapping[str, Callable[[], ExportFormat]] = {".pt2": TorchExport, ".onnx": Onnx}
"""By the end of the file's name."""


def _dynamic_shapes(dynamic: bool) -> Any:
    if not dynamic:
        return None
    limits = {"min": LEAST_SIDE // STRIDE, "max": MOST_SIDE // STRIDE}
    height, width = (torch.export.Dim(f"{name}_in_{STRIDE}s", **limits) for name in ("h", "w"))
    return {"pixels": {1: STRIDE * height, 2: STRIDE * width}, "size": None}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporters from telling of their own parts that will change."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
