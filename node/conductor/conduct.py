"""`conduct NAME`: runs one job on the head from its place in the line to its end.

The unit mask-rcnn-job@NAME starts it, again after a crash. After a boot, on a new head too, the
set-up has `resume` start those of all jobs that are not finished. What a conductor must know is in
the run folder on EFS.
"""

from __future__ import annotations

import signal
import threading

from node.config import NodeConfig
from node.metadata import Metadata

from . import jobs
from .conductor import Conductor
from .duty import Duty, Leaving
from .lease import Lease, LeaseLost
from .output import Output
from .staging import Staging
from .state import STAGING
from .telling import teller_of


def conduct(config: NodeConfig, name: str) -> int:
    """Conduct a job; return 0 where there is nothing more to do for it here."""
    run, state = jobs.find(config, name)
    instance_id = Metadata().must("instance-id")
    lease = Lease(run, name, instance_id)
    if not lease.take():
        return 0
    # What was read may be of before another head let go.
    run, state = jobs.find(config, name)
    leaving = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: leaving.set())
    output = Output(run.output)
    teller = teller_of(config, run=run, created=state.created, say=output.say)
    # What a conductor before may have been killed before it told it.
    teller.notice(state)
    duty = Duty(config, instance_id, run, state, lease, leaving, output, teller)
    conductor = Staging(duty) if state.algorithm == STAGING else Conductor(duty)
    try:
        conductor.run()
    except Leaving:
        lease.release()
        return 0
    except LeaseLost as lost:
        conductor.say(str(lost))
        return 0
    # The job is over, and its nodes are let go: nothing waits for this.
    teller.finish()
    lease.release()
    # It may have been submitted again meanwhile, while its unit was still active.
    return 0 if jobs.find(config, name)[1].is_final else 1
