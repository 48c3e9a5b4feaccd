"""The fast lane: takes the steps that repeat earlier ones, and leaves all others to the machine."""

from __future__ import annotations

from conformance.judging.cache import cached_verdicts
from conformance.replay.compare.outcome import ExchangeOutcome, State
from conformance.replay.engine.log import LogLine
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.step import Attempt, ReplayStep, StepActions
from conformance.replay.fast_lane.cached_response import CachedResponse, cached_response_of
from conformance.replay.fast_lane.comparer import CachingComparer
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.line_template import MOVED, LineTemplate
from conformance.replay.fast_lane.log import CachingLog, TemplatedLine, Templates
from conformance.replay.fast_lane.models import Model, Models
from conformance.replay.fast_lane.request_template import RequestTemplate
from conformance.replay.fast_lane.request_templates import RequestTemplates
from conformance.replay.rebuild.actions import Received, Send
from conformance.replay.recording.repeats import UNREPEATED

MOST_RESPONSES = 2_000
"""Different responses that requests share."""


class RepeatedStep(ReplayStep, frozen=True, gc=False):
    """A step whose response repeated a cached one: it was neither decoded nor compared."""


class FastLane:
    """Sends repeated requests from templates, and recognises repeated responses by their bytes.

    Where either fails it asks the machine, and learns from the step that this returns. ``comparer`` and
    ``log`` are those of the machine.
    """

    def __init__(
        self, machine: ReplayMachine, comparer: CachingComparer, log: CachingLog, epoch: Epoch
    ) -> None:
        self._machine = machine
        self._comparer = comparer
        self._log = log
        self._repetitions = machine.assessor.repetitions
        models = Models(machine.plan, machine.progress, epoch.correlation)
        self._templates = RequestTemplates(machine.plan, machine.rebuilder, machine.timing, epoch, models)
        machine.on_rebuilt = self._templates.propose
        self._responses: dict[tuple[str, str], CachedResponse] = {}
        """By endpoint and line template, a response that requests share."""

    def step(self, position: int) -> StepActions:
        """As ``ReplayMachine.step``."""
        template = self._templates.find(position)
        if template is None:
            step = yield from self._machine.step(position)
            if step.attempt is not None:
                self._learn(step, self._templates.learn(step.attempt))
            return step
        send = self._templates.send(template, position)
        received = yield send
        assert isinstance(received, Received)
        cached = self._response_of(template, position)
        attempt = None if cached is None else self._repeated(cached, template, send, received)
        if attempt is None or cached is None:
            attempt = self._machine.attempt(send, received, None)
        elif not attempt.findings:
            number, line = self._machine.plan.number_of(position), attempt.line.exchange.n
            outcome = ExchangeOutcome(number, State.SAME, cached.endpoint, line=line)
            if template.first_read is not None:
                self._remember(template, position)
            return RepeatedStep(position, outcome, attempt)
        step = yield from self._machine.step(position, attempt)
        self._learn(step, template)
        return step

    def _response_of(self, template: RequestTemplate, position: int) -> CachedResponse | None:
        """The cached response, where it is still valid and later requests take nothing from this one."""
        if template.response is None and template.model is not None:
            self._take_response(template, template.model, position)
        cached = template.response
        if cached is None or self._machine.is_source(position) or not self._templates.is_valid(template):
            return None
        return cached

    def _take_response(self, template: RequestTemplate, model: Model, position: int) -> None:
        """Takes over the response to the same request of another client, where one is cached by now."""
        if model.response is None or model.lines is None:
            return
        repeats = self._machine.plan.repeats[position] if model.is_remembered else UNREPEATED
        first = self._repetitions.first(repeats)
        if first is not None and first.fingerprints != model.fingerprints:
            return
        if repeats and first is None:
            if model.first_read is None and not self._repetitions.is_full:
                return  # what is to be remembered of it is known only once it is compared
            template.first_read = model.first_read
        request, response = model.lines
        template.response = model.response
        template.lines = Templates(LineTemplate(request.text, request.values, template.personal), response)

    def _repeated(
        self, cached: CachedResponse, template: RequestTemplate, send: Send, received: Received
    ) -> Attempt | None:
        """The attempt whose response repeats the cached one, logged and judged; None where it does not."""
        assert template.lines is not None
        request_id = template.request_id(send)
        repeated = cached.repeated(send, request_id, received, number=self._log.count + 1)
        if repeated is None:
            return None
        exchange, values = repeated
        if template.moved is not None:
            times = template.moved.times_in(send.request.parts.query)
            if times is None:
                return None
            values.update(zip(MOVED, times, strict=False))
            cached_verdicts.store(exchange, None)  # they may depend on the times that were asked for
        if template.personal and not self._log.knows(template.personal):
            self._log.meet(exchange, template.personal)
        self._log.add_repeated(exchange, template.lines, values)
        findings = self._machine.judge(exchange)
        return Attempt(None, send, received, LogLine(exchange), None, findings)

    def _remember(self, template: RequestTemplate, position: int) -> None:
        """Has it remembered that the first of some reads was the same as that of another client's."""
        first, template.first_read = template.first_read, None
        assert first is not None
        plan = self._machine.plan
        self._repetitions.adopt(plan.repeats[position], first, plan.started[position])

    def _learn(self, step: ReplayStep, template: RequestTemplate | None) -> None:
        """Caches the response to a template's request, where it was the recorded one."""
        pair, attempt = step.pair, step.attempt
        if template is None or attempt is None or pair is None:
            return
        cached, line = self._cacheable_response(step), attempt.line
        if cached is None or not isinstance(line, TemplatedLine) or line.templates is None:
            return
        moved, request = template.moved, line.templates.request
        marked = request if moved is None else moved.marked(request, attempt.live.request.parts.query)
        if marked is None:
            return
        template.response = self._shared(cached)
        template.lines = Templates(marked, template.response.line)
        if template.model is not None:
            first = self._repetitions.first(pair.repeats)
            template.model.take(template.response, template.lines, pair, first)

    def _shared(self, cached: CachedResponse) -> CachedResponse:
        """The response, or an equal one to another request: it is held once."""
        key = cached.endpoint, cached.line.text
        other = self._responses.get(key)
        if other is not None and cached.equals(other):
            return other
        if len(self._responses) >= MOST_RESPONSES:
            self._responses.clear()
        self._responses[key] = cached
        return cached

    def _cacheable_response(self, step: ReplayStep) -> CachedResponse | None:
        attempt, pair = step.attempt, step.pair
        if attempt is None or pair is None or step.outcome.state is not State.SAME or step.findings:
            return None
        if not attempt.live.success or not self._comparer.is_same(pair):
            return None
        return cached_response_of(attempt)
