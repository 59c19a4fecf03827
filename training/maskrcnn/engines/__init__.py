"""What joins the ranks of a job, by name; an engine's library is imported when it is chosen."""

from __future__ import annotations

from importlib import import_module
from typing import get_args

from training.errors import UsageError
from training.maskrcnn.engines.engine import Engine, EngineName
from training.maskrcnn.hyperparameters import Hyperparameters

MODULES = {name: f"training.maskrcnn.engines.{name}_engine" for name in get_args(EngineName)}

_COMES_FROM = {
    "horovod": "`make setup` installs it",
    "torch": "`make setup` installs it",
    "smddp": "It is in AWS's Deep Learning Containers for SageMaker alone, for p4d and p4de",
}


def start_engine(name: str, hyperparameters: Hyperparameters | None = None) -> Engine:
    """Join the other ranks.

    Args:
        hyperparameters: Those of the engine itself; None leaves all as the engine has it.

    Raises:
        UsageError: There is no such engine, its library is not installed, or it cannot do what a
            hyperparameter asks for.
    """
    if name not in MODULES:
        raise UsageError(f"--engine {name}: choose one of {', '.join(MODULES)}")
    try:
        module = import_module(MODULES[name])
    except ImportError as error:
        raise UsageError(
            f"--engine {name}: cannot be imported ({error}). {_COMES_FROM[name]}; --engine torch "
            "needs nothing but torch"
        ) from error
    engine: Engine = module.start(hyperparameters)
    return engine
