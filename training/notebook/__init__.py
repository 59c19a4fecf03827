"""What the notebooks in notebooks/ are written with; everything else in them is a command line."""

from training.notebook.command import run
from training.notebook.surroundings import Surroundings, look_around
from training.notebook.told import Told

__all__ = ["Surroundings", "Told", "look_around", "run"]
