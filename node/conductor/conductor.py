"""The conductor of one job, from its place in the line to its end."""

from __future__ import annotations

import shutil
import time
import traceback
from dataclasses import replace

from node.aws_cli import AwsError
from node.errors import NodeError
from node.registrations import Registration

from . import jobs, places
from .duty import Conducting, Duty, Leaving
from .elastic_round import ElasticRound
from .gathering import Gathering, NotEnough
from .lease import LeaseLost
from .nodes import Nodes
from .progress import last_step
from .request import Request
from .results import copy_results
from .rigid_round import RigidRound
from .round import FAILED, STOPPED, STOPPED_WITH_CHECKPOINT, Round, Setting
from .scaling import Scaling
from .state import now
from .verdict import Verdict, judge
from .watch import LOOK_S, SHUTDOWN, Watch

_TURN_S = 2
_PAUSE_S = 5
"""Between two rounds."""


class _Over(Exception):
    """The job ends with this verdict, wherever it stands."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


class Conductor(Conducting):
    """Conducts a training job."""

    def __init__(self, duty: Duty) -> None:
        super().__init__(duty)
        self._request: Request = jobs.read_request(duty.run)
        self._scaling = Scaling(duty.config)
        self._watch = Watch(
            run=duty.run,
            request=self._request,
            state=duty.state,
            output=self._output,
            leaving=duty.leaving,
            change=self._change,
        )

    def run(self) -> None:
        if not self._state.is_final:
            shipping = self._shipping()
            try:
                self._write(self._finish(self._conduct()))
            finally:
                shipping.finish()
        # Also after a crash between the two: nodes that nobody needs cost.
        self._scale_down()
        shutil.rmtree(places.RUN / "rounds" / self._state.name, ignore_errors=True)

    def _conduct(self) -> Verdict:
        try:
            self._wait_for_turn()
            nodes = Nodes(self._config, self.say)
            try:
                while True:
                    verdict = self._one_round(nodes)
                    if verdict.state is not None:
                        return verdict
                    self._pause(verdict.reason)
            finally:
                nodes.close()
        except _Over as over:
            return over.verdict
        except NodeError as error:
            return Verdict("failed", FAILED, str(error))
        except (OSError, LeaseLost, Leaving):
            # The unit tries again, or another head has it.
            raise
        except Exception as error:
            # A mistake of ours ends the job: it must not hold nodes that cost.
            self.say(traceback.format_exc())
            reason = f"the conductor failed: {type(error).__name__}: {error}"
            return Verdict("failed", FAILED, reason)

    # The line

    def _wait_for_turn(self) -> None:
        while True:
            self._look()
            first = jobs.line(self._config)[:1]
            if not first or first[0].name == self._state.name:
                break
            reason = f"waits for job {first[0].name}"
            if self._state.reason != reason:
                self._change("queued", reason)
            time.sleep(_TURN_S)
        self._change("waiting", "looks for its nodes")

    def _look(self) -> None:
        """Renew the lease; leave where the job, or this machine, is to stop."""
        self._lease.renew()
        if self._leaving.is_set():
            self._change("waiting", "the head shuts down; the job goes on when there is one again")
            raise Leaving
        if self._run.stop.exists():
            raise _Over(self._stopped("as asked"))
        if self._state.ran_s > self._request.max_run_s:
            raise _Over(self._stopped(f"by its time limit, {self._request.max_run_s} s"))

    def _stopped(self, how: str) -> Verdict:
        """Return how a job ends that does not run at the moment."""
        if self._run.has_checkpoint:
            return Verdict(
                "checkpointed", STOPPED_WITH_CHECKPOINT, f"stopped {how}; it has a checkpoint"
            )
        return Verdict("stopped", STOPPED, f"stopped {how}, before it had a checkpoint")

    # A round

    def _one_round(self, nodes: Nodes) -> Verdict:
        workers = self._gather(nodes)
        head = self._own_host(nodes)
        state, before = self._state, last_step(self._run)
        state.round += 1
        state.restarts = state.round - 1
        state.started = state.started or now()
        taking_part = [head] if head.slots > 0 else []
        setting = Setting(
            request=self._request,
            run=self._run,
            number=state.round,
            head=head,
            hosts=(*taking_part, *workers),
            nodes=nodes,
            output=self._output,
        )
        self.say(f"round {state.round} on {', '.join(host.address for host in setting.hosts)}")
        make = ElasticRound if self._request.is_elastic else RigidRound
        round_: Round = make(setting)
        try:
            self._change("running", None)
            result, stopped_by = self._watch.follow(round_)
        except BaseException:
            round_.abandon()
            raise
        state.step = last_step(self._run)
        if stopped_by == SHUTDOWN:
            self._look()
        state.idle_rounds = 0 if state.step != before else state.idle_rounds + 1
        verdict = judge(result, self._request, state, stopped_by)
        if verdict.state == "stopped" and self._run.has_checkpoint:
            # Of an earlier round: this one was stopped before its ranks could save.
            verdict = replace(verdict, state="checkpointed", exit_code=STOPPED_WITH_CHECKPOINT)
        state.failures += verdict.counts
        self.say(f"round {state.round} is over: {verdict.reason}")
        return verdict

    def _gather(self, nodes: Nodes) -> list[Registration]:
        def say(text: str) -> None:
            self.say(text)
            self._change("waiting", text)

        gathering = Gathering(
            config=self._config,
            request=self._request,
            scaling=self._scaling,
            nodes=nodes,
            say=say,
            look=self._look,
        )
        try:
            return gathering.run()
        except NotEnough as error:
            raise _Over(Verdict("failed", FAILED, str(error))) from error

    def _own_host(self, nodes: Nodes) -> Registration:
        """Return this machine as the register has it."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            self._look()
            for host in nodes.hosts():
                if host.instance_id == self._instance_id:
                    return host
            time.sleep(1)
        raise _Over(Verdict("failed", FAILED, "the head itself is not in the cluster's register"))

    # Between and after

    def _pause(self, reason: str) -> None:
        self._change("waiting", f"starts again: {reason}")
        deadline = time.monotonic() + _PAUSE_S
        while time.monotonic() < deadline:
            self._look()
            time.sleep(LOOK_S)

    def _finish(self, verdict: Verdict) -> Verdict:
        """Copy what a job leaves; one whose model is not where it belongs has failed."""
        if verdict.state != "completed" or self._request.model_copied_to is None:
            return verdict
        self.say(f"copies the model to {self._request.model_copied_to}")
        problem = copy_results(self._run, self._request.model_copied_to)
        if problem is None:
            return verdict
        reason = f"trained, and the model is in {self._run.root}, but not on S3: {problem}"
        return Verdict("failed", FAILED, reason)

    def _scale_down(self) -> None:
        try:
            size = self._scaling.restore(but=self._state.name, keep=self._request.keep_workers)
        except AwsError as error:
            self.say(f"the worker group stays as it is: {error}")
            return
        if size is not None:
            self.say(f"the worker group goes back to {size} workers")

    def _write(self, verdict: Verdict) -> None:
        state = self._state
        state.exit_code = verdict.exit_code
        state.step = last_step(self._run)
        self.say(f"{verdict.state}: {verdict.reason}")
        self._change(verdict.state or "failed", verdict.reason)
