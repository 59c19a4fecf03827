"""What is done with what a job leaves, whoever ran it."""

from typing import Optional

from .adapters import Adapter
from .errors import DONE, FAILED, STOPPED_WITH_CHECKPOINT, Ending, EntrypointError
from .job import Job
from .paths import MlPaths
from .record import write_model_files, write_report
from .results import keep_model, keep_results
from .say import say


def keep_all(ending: Ending, job: Job, adapter: Adapter, paths: Optional[MlPaths]) -> Ending:
    """Keep what the job leaves. A job whose model is lost has failed; one that failed stays so.

    Args:
        paths: Where it goes; None: it stays in the log folder.
    """
    if adapter.reports:
        write_report(job)
    try:
        models = adapter.model_files(job) if ending.code == DONE else []
        if paths is None:
            if ending.code == DONE:
                write_model_files(job, models)
            return ending
        if ending.code == DONE:
            keep_model(models, paths.model)
        keep_results(job.log, paths.output_data, models, adapter.checkpoints)
    except EntrypointError as error:
        if ending.code in (DONE, STOPPED_WITH_CHECKPOINT):
            return Ending(FAILED, f"trained, but its results are not kept: {error}")
        say(str(error))
    return ending
