"""The steps of a replay, without I/O: one step rebuilds a recorded request and assesses its response."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from conformance.judging import Watch
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.changes.sent import change_of
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.outcome import ExchangeOutcome, ReplayedExchange, State
from conformance.replay.engine.progress import Progress
from conformance.replay.engine.step import Attempt, ReplayStep, StepActions, with_other_places
from conformance.replay.engine.timing import Timing
from conformance.replay.rebuild.actions import (
    Action,
    Await,
    CannotRebuild,
    FindKey,
    LostValue,
    PassTime,
    Pending,
    Received,
    Reply,
    Secret,
    Send,
    exchange_of,
)
from conformance.replay.rebuild.context import unique_name
from conformance.replay.rebuild.correlation import names_replaced
from conformance.replay.rebuild.factors import Client
from conformance.replay.rebuild.rebuild import NO_FIELDS, Rebuilder, Rebuilt, has_json_body
from conformance.replay.rebuild.sign_ins import SignInCodes, SignInOrder
from conformance.replay.recording.plan import NEEDED, ReplayPlan, is_unwanted
from conformance.spec.endpoints import INVITE, PUBLIC_KEY, SECURE_SESSION
from conformance.target.clock import LONGEST_WAIT
from conformance.target.portal.budget import retry_after
from conformance.target.portal.transport import impact_of
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import secrets_in
from conformance.verdicts.comparisons import is_block_page, is_from_before_the_portal, is_rate_limited

RETRIES = 3
ASSUMED_WINDOW_SECONDS = 60.0
PAUSE_SECONDS = 1.0
MOST_TURNED_AWAY = 10


@dataclass
class ReplayMachine:
    """Replays exchanges step by step. A step yields actions for the driver, and returns its result."""

    plan: ReplayPlan
    rebuilder: Rebuilder
    assessor: Assessor
    judge: Watch
    log: ExchangeLog
    progress: Progress
    timing: Timing
    changes: ReplayChanges
    find_secrets: Callable[[Exchange], None] = lambda exchange: None
    """Registers what looks like a secret in an exchange."""

    def __post_init__(self) -> None:
        self.context = self.rebuilder.context
        self.sign_ins = SignInCodes(
            self.context,
            SignInOrder(self.progress.ended),
            self.timing.now,
            movable=self.timing.movable,
            refused=self.assessor.credentials.refused,
            unset=self.assessor.credentials.unset,
            certain=self.assessor.credentials.certain,
        )
        self._largest_body = self.context.profile.limits.max_answer
        self.rate_limited: Counter[str] = Counter()
        """Seconds of waiting for a rate limit that the recording does not show, by endpoint."""
        self._turned_away = 0
        """How many requests in a row were answered by what stands before the portal."""
        self._sourced: dict[int, list[str]] = {}
        for value, position in self.plan.sources.items():
            self._sourced.setdefault(position, []).append(value)

    def is_source(self, position: int) -> bool:
        """Whether later requests send a value that this exchange's response returns."""
        return position in self._sourced

    def step(self, position: int, first: Attempt | None = None) -> StepActions:
        """Replays the exchange at a position. ``first`` is its first attempt, where it was sent already."""
        client, recorded = self.progress.client(position), self.plan.store.exchange(position)
        try:
            attempt = yield from self._attempts(position, recorded, client, first)
        except LostValue as lost:
            root = self.progress.root(lost.position)
            endpoint = self.plan.endpoint(self.plan.order[root - 1])
            reason = f"exchange {root} ({endpoint}) did not return what it needs"
            return self._unsent(position, State.SKIPPED, reason, root=root)
        except CannotRebuild as problem:
            return self._unsent(position, State.NOT_REPLAYABLE, str(problem))
        findings = self.judge(attempt.live) if attempt.findings is None else attempt.findings
        pair = self._pair(position, recorded, attempt, client)
        outcome = self.assessor.assess(pair, findings)
        if outcome.state is State.NOT_COMPARABLE and not attempt.live.success:
            self.plan.omit(position)  # what it changed then is not changed now
        if position in self.plan.needed:
            outcome = ExchangeOutcome(pair.number, State.UNWANTED, pair.endpoint, NEEDED, line=pair.live.n)
        if outcome.differences:  # the reports show them with recorded values
            outcome = with_other_places(outcome, pair, self.plan)
            for value, kind in secrets_in(recorded):
                self.context.keep(Secret(value, kind))
            self.find_secrets(recorded)
        self._learn(position, recorded, attempt.live, client)
        self.sign_ins.passwords.note(position, client.account, is_set=attempt.live.success)
        if attempt.live.success and (
            self.plan.sessions > 1 or self.sign_ins.is_mailed_anew(position, recorded)
        ):
            yield from self.sign_ins.read_mail(position, recorded)
        return ReplayStep(position, outcome, attempt, pair, findings)

    def refuse(self, position: int, refusal: str) -> ReplayStep:
        state = State.UNWANTED if is_unwanted(refusal) else State.NOT_REPLAYABLE
        return self._unsent(position, state, refusal)

    def attempt(self, send: Send, received: Received, rebuilt: Rebuilt | None = None) -> Attempt:
        """The attempt that a response completes: decoded and logged."""
        exchange = self.numbered(exchange_of(send, received, largest_body=self._largest_body))
        self.find_secrets(exchange)
        self.log.write(exchange)
        return Attempt(send, received, exchange, rebuilt)

    def numbered(self, exchange: Exchange) -> Exchange:
        """Exchange numbered by its line in the log."""
        return replace(exchange, n=self.log.count + 1)

    # --- attempts

    def _attempts(
        self, position: int, recorded: Exchange, client: Client, first: Attempt | None
    ) -> Generator[Action, Reply, Attempt]:
        """Sends the request until its response is not one to be retried."""
        renames: Mapping[str, Json] = NO_FIELDS
        attempt = first
        for retry in range(RETRIES + 1):
            if attempt is None or retry:
                attempt = yield from self._sent(position, recorded, client, renames)
            live = attempt.live
            if is_rate_limited(live) and not is_rate_limited(recorded):
                seconds = _window_of(live)
                if retry == RETRIES or seconds > LONGEST_WAIT:
                    break
                self.rate_limited[self.plan.endpoint(position)] += math.ceil(seconds)
                yield PassTime(seconds, "the target's rate limit to pass")
            elif not renames and _is_name_taken(recorded, live):
                renames = self._other_names(recorded)
                if not renames:
                    break
            elif retry or not (yield from self._may_succeed(recorded, live)):
                break
        assert attempt is not None
        return attempt

    def _may_succeed(self, recorded: Exchange, live: Exchange) -> Generator[Action, Reply, bool]:
        """Whether a refused request may be accepted otherwise: with another key, form or code."""
        channels = self.rebuilder.channels
        if self._may_pass(recorded, live):
            yield PassTime(PAUSE_SECONDS, "a proxy or gateway before the target to let a request pass")
            return True
        if channels.needs_key(recorded, live):
            try:
                yield FindKey(channels.take_fresh)
            except CannotRebuild:
                return False
            return True
        yield from self.sign_ins.check_mail(recorded, live)
        return channels.try_other_form(recorded, live) or self.sign_ins.may_be_spent(recorded, live)

    def _may_pass(self, recorded: Exchange, live: Exchange) -> bool:
        """Tells whether to repeat a request that a gateway answered unlike in the recording: the portal never
        saw the request, or the request only reads. Too many gateway answers in a row end all repetitions."""
        if not is_from_before_the_portal(live):
            self._turned_away = 0
            return False
        if is_from_before_the_portal(recorded) or self._turned_away >= MOST_TURNED_AWAY:
            return False
        self._turned_away += 1
        return is_block_page(live) or impact_of(recorded.request.method, recorded.request.path) == "read-only"

    def _sent(
        self, position: int, recorded: Exchange, client: Client, renames: Mapping[str, Json]
    ) -> Generator[Action, Reply, Attempt]:
        rebuilt = yield from self._rebuilt(position, recorded, client, renames)
        change = change_of(position, recorded, rebuilt, client)
        if change is not None:
            yield change
        send = Send(
            position,
            rebuilt.request,
            rebuilt.head,
            rebuilt.body,
            self.timing.due(position),
            rebuilt.plain,
            rebuilt.channel,
            recorded.client,
        )
        received = yield send
        assert isinstance(received, Received)
        attempt = self.attempt(send, received, rebuilt)
        if change is not None:
            self.changes.finish(position, attempt.live)
        return attempt

    def _rebuilt(
        self, position: int, recorded: Exchange, client: Client, fields: Mapping[str, Json]
    ) -> Generator[Action, Reply, Rebuilt]:
        """The request, rebuilt. A code is asked for once nothing else is pending, and then put in."""
        replaced = {**self.context.mails.code_of(recorded), **fields}  # that of the mail comes later
        while True:
            shift = self.timing.shift(position)
            try:
                rebuilt = self.rebuilder.rebuild(recorded, client, shift=shift, fields=replaced)
                break
            except Pending as pending:
                yield Await(pending.position)
        if not has_json_body(recorded) or not isinstance(recorded.sent, dict):
            return rebuilt
        codes = yield from self.sign_ins.fields(position, recorded, client)
        if not codes:
            return rebuilt
        return self.rebuilder.rebuild(recorded, client, shift=shift, fields={**fields, **codes})

    def _other_names(self, recorded: Exchange) -> dict[str, Json]:
        """Names that the client chose, made unique: the target may have them from an earlier replay."""
        sent = recorded.sent if isinstance(recorded.sent, dict) else {}
        renames: dict[str, Json] = {}
        for name, value in sent.items():
            if not isinstance(value, str) or value in self.plan.sources:
                continue
            if name.endswith(("Name", "Code", "Email")):
                renames[name] = unique_name(value)
                self.context.correlation.set(value, renames[name])
        return renames

    # --- the response

    def _pair(self, position: int, recorded: Exchange, attempt: Attempt, client: Client) -> ReplayedExchange:
        account = self.context.owner(recorded, client.account)
        return ReplayedExchange(
            number=self.plan.number_of(position),
            recorded=recorded,
            live=attempt.live,
            idle_seconds=self.timing.idle_seconds(position, client.last),
            unsourced=() if attempt.rebuilt is None else attempt.rebuilt.unsourced,
            made_up=() if attempt.rebuilt is None else attempt.rebuilt.made_up,
            omitted_change=self.plan.omissions.before(
                self.plan.started[position],
                recorded.request.path,
                is_open_still=_is_open_still(recorded, attempt.live, client),
            ),
            shows_another=names_replaced(recorded, self.context.correlation),
            account=account,
            email=None if account is None else self.context.profile.accounts[account].email,
            repeats=self.plan.repeats[position],
        )

    def _learn(self, position: int, recorded: Exchange, live: Exchange, client: Client) -> None:
        """Takes from a response what later requests need."""
        key = recorded.request.operation_key or ""
        if live.success and recorded.success:
            if key in (PUBLIC_KEY, SECURE_SESSION):
                for recorded_id, live_id in self.rebuilder.channels.learn(key, recorded, live):
                    self.context.correlation.set(recorded_id, live_id)
            else:
                self.sign_ins.learn(key, recorded, live, client)
        values: Iterable[str] = self._sourced.get(position, ())
        if values and live.response is not None:
            body = None if live.response.body is ABSENT else live.response.body
            text = msgspec.json.encode((body, live.response.headers, live.plain)).decode()
            self.context.correlation.add_unchanged(value for value in values if value in text)

    def _unsent(self, position: int, state: State, reason: str, *, root: int | None = None) -> ReplayStep:
        self.plan.omit(position)
        self.progress.fail(position, root)
        account = self.progress.client(position).account
        self.sign_ins.passwords.note(position, account, is_set=False)
        number = self.plan.number_of(position)
        return ReplayStep(
            position, ExchangeOutcome(number, state, self.plan.endpoint(position), reason, root=root)
        )


def _is_open_still(recorded: Exchange, live: Exchange, client: Client) -> bool:
    """Whether a token is accepted that was refused when recorded, though its session did not sign out."""
    sends_token = not recorded.request.is_without("authorization")
    return recorded.status == 401 and live.success and sends_token and not client.signed_out


def _window_of(live: Exchange) -> float:
    """Seconds until a rate limit has passed, by the response or by assumption."""
    wait = retry_after(live)
    return ASSUMED_WINDOW_SECONDS if wait is None else wait + 0.1


def _is_name_taken(recorded: Exchange, live: Exchange) -> bool:
    """Tells whether the target refused a recorded creation: the name may be taken."""
    operation = recorded.request.operation
    if operation is None or not (operation.path.endswith("/create") or operation.key == INVITE):
        return False
    return recorded.success and not live.success and live.status in (400, 409, 422)
