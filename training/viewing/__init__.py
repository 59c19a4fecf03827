"""What a job has left in its logs, for a notebook beside them: metrics, and pictures with truth.

from training.viewing import look

logs = look(LOG)
logs.metrics()
logs.pictures(DATA)
"""

from training.viewing.logs import look
from training.viewing.view import View

__all__ = ["View", "look"]
