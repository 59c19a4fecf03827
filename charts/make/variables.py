"""Keys of `maskrcnn` that become variables of the training processes."""

from __future__ import annotations

from dataclasses import dataclass

from .key import Key, one_of, optional, quoted, text, whole


@dataclass(frozen=True)
class Variable:
    """A key, and the variables that get its value."""

    key: Key
    variables: tuple[str, ...]
    tensorflow: bool = False
    """Whether it says something to TensorFlow alone."""


def _variable(key: Key, *variables: str, tensorflow: bool = False) -> tuple[str, Variable]:
    return key.name, Variable(key, variables, tensorflow)


_WORDS = text(r"^[\^A-Za-z0-9_,.-]+$")

VARIABLES: dict[str, Variable] = dict(
    (
        _variable(
            Key(
                name="tf_device_min_sys_mem_mb",
                default=4096,
                rule=whole(0),
                about="MiB of each GPU that TensorFlow leaves to cuDNN and NCCL: 2560 on 16 GB.",
                old="the same",
            ),
            "TF_DEVICE_MIN_SYS_MEMORY_IN_MB",
            tensorflow=True,
        ),
        _variable(
            Key(
                name="tf_enable_auto_mixed_precision",
                default=None,
                rule=optional(one_of(0, 1)),
                about="TensorFlow's own mixed precision; null: as the algorithm has it.",
                old="the same (0)",
            ),
            "TF_ENABLE_AUTO_MIXED_PRECISION",
            "TF_ENABLE_CUBLAS_TENSOR_OP_MATH_FP32",
            "TF_ENABLE_CUDNN_TENSOR_OP_MATH_FP32",
            tensorflow=True,
        ),
        _variable(
            Key(
                name="nccl_debug",
                default=None,
                rule=optional(one_of("VERSION", "WARN", "INFO", "TRACE")),
                about="What NCCL logs; null: nothing.",
                old="the same (INFO)",
            ),
            "NCCL_DEBUG",
        ),
        _variable(
            Key(
                name="nccl_socket_ifname",
                default=None,
                rule=optional(_WORDS),
                about="NCCL's network interfaces; null: the one that leads to the other pods.",
                old="the same (^lo,docker0); if_exclude is this for MPI, and is found by itself",
            ),
            "NCCL_SOCKET_IFNAME",
        ),
        _variable(
            Key(
                name="nccl_buffsize",
                default=None,
                rule=optional(quoted(whole(1))),
                about="NCCL's buffer between two GPUs, bytes; null: NCCL's own.",
                old="the same, in 2022",
            ),
            "NCCL_BUFFSIZE",
        ),
        _variable(
            Key(
                name="horovod_autotune",
                default=None,
                rule=optional(one_of(0, 1)),
                about="Horovod looks for the best cycle time and fusion threshold by itself.",
                old="the same (1)",
            ),
            "HOROVOD_AUTOTUNE",
        ),
        _variable(
            Key(
                name="horovod_log_level",
                default=None,
                rule=optional(one_of("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL")),
                about="What Horovod logs; null: warnings.",
                old="the same (INFO)",
            ),
            "HOROVOD_LOG_LEVEL",
        ),
    )
)


def keys_of(*, tensorflow: bool) -> tuple[Key, ...]:
    return tuple(each.key for each in VARIABLES.values() if tensorflow or not each.tensorflow)
