"""The sessions of a replay, without I/O: what each sends next, and what an answer means."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import msgspec

from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.outcome import Outcome, State
from conformance.replay.engine.actions import Action, Await, AwaitAllBefore, Pass, Reply, Secret, Send, Steps
from conformance.replay.fast_lane.answers import is_familiar
from conformance.replay.fast_lane.lines import said_in
from conformance.replay.fast_lane.requests import Repeat, Repeats
from conformance.replay.rebuild.channels import Channels
from conformance.replay.rebuild.headers import Heads, framed
from conformance.replay.rebuild.rebuild import CannotBeMade, Lost, Pending, Renewal
from conformance.replay.rebuild.sign_in_order import Turns
from conformance.replay.rebuild.sign_ins import Client, SignIns
from conformance.replay.recording.plan import Plan, is_unwanted
from conformance.spec import Operation
from conformance.spec.endpoints import INVITE, PUBLIC_KEY, SECURE_SESSION
from conformance.target.clock import LONGEST_WAIT
from conformance.target.portal.budget import is_rate_limited, retry_after
from conformance.target.portal.cipher import sealed_payload
from conformance.traffic.capture.bodies import body_of, bytes_of
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain, Request
from conformance.traffic.redaction.redact import secrets_in
from conformance.verdicts.findings import Finding

TOKEN_MISSING = "ACCESS.TOKEN_MISSING"

RETRIES = 3
LONG = 1.0
"""Seconds of recorded time that are passed at a target whose clock can be moved."""

IDLE = 30.0
"""Seconds of waiting between two requests of a client after which an answer may depend on the waiting."""

ASSUMED_WINDOW = 60.0


@dataclass
class Machine:
    """All sessions of one replay. ``now`` gives the target's time; ``scale`` is None at the highest pace,
    else what recorded seconds are multiplied with; ``movable`` says that the target's time can be moved."""

    plan: Plan
    renewal: Renewal
    assessor: Assessor
    channels: Channels
    now: Callable[[], float]
    scale: float | None = None
    movable: bool = False
    on_ended: Callable[[int], None] = lambda position: None

    def __post_init__(self) -> None:
        self.heads = Heads(self.renewal, self.plan)
        self.repeats = Repeats(self.plan, self.heads, self.renewal)
        self.assessor.reveals = self.channels.reveals
        self.ended = bytearray(len(self.plan.store))
        for position in self.plan.refused:
            self.ended[position] = self.plan.session_of[position] < 0
        self.sign_ins = SignIns(self.renewal, Turns(self.ended), self.now, movable=self.movable)
        self.renewal.done = lambda position: bool(self.ended[position])
        self._provides: dict[int, list[str]] = {}
        for value, position in self.plan.given.items():
            self._provides.setdefault(position, []).append(value)
        self._first = self.plan.order[0] if self.plan.order else 0
        self._live_start = self.now()
        self._moved = 0.0
        self._roots: dict[int, int] = {}
        self._clients: dict[int, Client] = {}
        self._strange: dict[int, list[str]] = {}

    def session(self, positions: Iterable[int]) -> Steps:
        """One recorded client from its first exchange to its last, or several in the order given."""
        for position in positions:
            session = self.plan.session_of[position]
            client = self._clients.get(session) or self._clients.setdefault(session, Client())
            refusal = self.plan.refused.get(position)
            if refusal is None:
                yield from self._step(position, client)
            else:
                state = State.UNWANTED if is_unwanted(refusal) else State.NOT_REPLAYABLE
                self._end_without_answer(position, state, refusal)
            self.ended[position] = 1
            client.last = position
            self.on_ended(position)

    # --- one exchange

    def _step(self, position: int, client: Client) -> Steps:
        repeat = self.repeats.of(position)
        recorded = self.plan.store.exchange(position) if repeat is None else repeat.recorded
        if self.movable:
            yield from self._let_time_pass(position)
        reply: Reply = None
        findings: list[Finding] | None = None
        try:
            if repeat is not None and repeat.familiar is not None and position not in self._provides:
                reply = yield self._again(repeat, position)
                assert isinstance(reply, Exchange)
                is_known = is_familiar(reply, repeat.familiar) and not repeat.is_shifted
                if is_known and self.repeats.holds(repeat):
                    findings = self.assessor.again(reply, repeat.familiar)
                    if not findings:
                        return
            live = yield from self._sent(position, recorded, client, repeat, reply)
        except Lost as lost:
            reason = f"exchange {self.plan.number_of(lost.position)} did not give what it needs"
            self._end_without_answer(position, State.SKIPPED, reason, root=self._root(lost.position))
            return
        except CannotBeMade as problem:
            self._end_without_answer(position, State.NOT_REPLAYABLE, str(problem))
            return
        number = self.plan.number_of(position)
        left_out, strange = self._left_out(position, client), tuple(self._strange.pop(position, ()))
        change = self.plan.left_out.before(
            self.plan.started[position], recorded.request.path, status=recorded.status
        )
        pair = said_in(self.plan.answers[position], live)
        outcome = self.assessor.assess(
            number,
            recorded,
            live,
            pair=pair,
            left_out=left_out,
            strange=strange,
            change=change,
            findings=findings,
        )
        sent = self.repeats.kept(position)
        if sent is not None and outcome.state is State.SAME and not is_familiar(live, sent.familiar):
            sent.familiar = self.assessor.familiar(live, pair) or sent.familiar
        if outcome.differences:  # which are told with what was recorded
            for value, kind in secrets_in(recorded):
                self.renewal.keep(Secret(value, kind))
        self._learn(position, recorded, live, client)
        if self.plan.sessions > 1 and live.success:
            yield from self.sign_ins.read_mail(recorded)

    def _sent(
        self, position: int, recorded: Exchange, client: Client, repeat: Repeat | None, reply: Reply
    ) -> Generator[Action, Reply, Exchange]:
        """Makes the request, and sends it until its answer is not that of a rate limit. ``reply`` is the
        first answer, where it was sent already."""
        operation = recorded.request.operation
        renames: dict[str, str] = {}
        for attempt in range(RETRIES + 1):
            if repeat is None or attempt > 0:
                send = yield from self._prepared(position, recorded, operation, client, renames)
                self.repeats.remember(position, recorded, send)
                reply = yield send
            elif reply is None:
                reply = yield self._again(repeat, position)
            assert isinstance(reply, Exchange)
            live = reply
            if is_rate_limited(live) and not is_rate_limited(recorded) and attempt < RETRIES:
                wait = retry_after(live)
                if wait is not None and wait > LONGEST_WAIT:
                    break
                yield Pass(ASSUMED_WINDOW if wait is None else wait + 0.1, "the target's rate limit to pass")
                continue
            if attempt == 0 and self.sign_ins.may_be_spent(recorded, live):
                continue
            if not renames and _is_taken(operation, recorded, live):
                renames = self._other_names(recorded)
                if renames:
                    continue
            break
        return live

    def _again(self, repeat: Repeat, position: int) -> Send:
        return self.repeats.again(repeat, position, self._due(position), self.now)

    def _prepared(
        self,
        position: int,
        recorded: Exchange,
        operation: Operation | None,
        client: Client,
        renames: dict[str, str],
    ) -> Generator[Action, Reply, Send]:
        while True:
            try:
                return (yield from self._made(position, recorded, operation, client, renames))
            except Pending as pending:
                yield Await(pending.position)

    def _made(
        self,
        position: int,
        recorded: Exchange,
        operation: Operation | None,
        client: Client,
        renames: dict[str, str],
    ) -> Generator[Action, Reply, Send]:
        """The request, made anew. What may raise Pending comes before what asks for a code."""
        renewal, request = self.renewal, recorded.request
        renewal.succeeded = recorded.success
        renewal.refused = recorded.code if recorded.response and not recorded.success else None
        renewal.strange = self._strange[position] = []
        renewal.has_shifted, renewal.unknown = False, []
        shift = self.now() - self.plan.moments[position]
        target = renewal.url(recorded, operation, shift)
        self.heads.needs_token = (
            recorded.status != 401 and operation is not None and not operation.is_prelogin
        )
        headers = self.heads.headers(request.headers, token=self._missing_token(recorded, operation, client))
        key = operation.key if operation else ""
        body, plain = request.body, None
        channel = None
        if recorded.sent is not ABSENT and request.state == "json":
            told = renewal.value("", recorded.sent, shift)
            if isinstance(told, dict):
                if renames:
                    told = {name: renames.get(name, value) for name, value in told.items()}
                told = yield from self._with_secrets(position, key, recorded, told, client)
            if sealed_payload(request.body) is not None and recorded.plain is not None:
                channel = self.channels.for_request(recorded)
                plain = Plain(request=told)
                raw = channel.encrypt(told, form=self.channels.form(request.body))
                body = msgspec.json.decode(raw)
            else:
                body, raw = told, msgspec.json.encode(told)
            form = request.form
        else:
            raw = self._other_body(request, shift)
            body, form = body_of(raw)
        return Send(
            position=position,
            request=Request(
                method=request.method,
                url=renewal.profile.portal.url + target,
                headers=headers,
                body=body,
                form=form,
            ),
            head=framed(request.method, self.heads.base + target, headers, raw),
            body=raw,
            due=self._due(position),
            plain=plain,
            channel=channel,
            client=recorded.client,
        )

    def _other_body(self, request: Request, shift: float) -> bytes:
        """A body that is not JSON: a form's fields are made anew, anything else is sent as it was."""
        raw = bytes_of(request)
        if "urlencoded" in (request.header("content-type") or "") and raw:
            pairs = parse_qsl(raw.decode(errors="replace"), keep_blank_values=True)
            return urlencode(
                [(name, self.renewal.value(name, value, shift)) for name, value in pairs]
            ).encode()
        return raw

    def _missing_token(self, recorded: Exchange, operation: Operation | None, client: Client) -> str | None:
        """The session's token, where the source of the recording leaves Authorization out."""
        request = recorded.request
        if request.header("authorization") is not None or request.is_without("authorization"):
            return None
        if operation is None or operation.is_prelogin or recorded.code == TOKEN_MISSING:
            return None
        if recorded.status == 401 and not client.signed_out:
            raise CannotBeMade("the recording leaves Authorization out, and the token was refused or missing")
        if client.token is None:
            raise CannotBeMade(
                "the recording leaves Authorization out, and no sign-in before it gave a token"
            )
        return client.token

    def _with_secrets(
        self, position: int, key: str, recorded: Exchange, told: dict[str, Json], client: Client
    ) -> Generator[Action, Reply, dict[str, Json]]:
        """The body with passwords, codes and keys that fit the target and the time."""
        if key == SECURE_SESSION:
            return self.channels.keys_for(recorded, told)
        return (yield from self.sign_ins.body(position, key, recorded, told, client))

    # --- what an answer tells

    def _learn(self, position: int, recorded: Exchange, live: Exchange, client: Client) -> None:
        operation = recorded.request.operation
        key = operation.key if operation else ""
        if live.success and recorded.success:
            self._learn_session(key, recorded, live, client)
        given = self._provides.get(position)
        if given and live.response is not None:
            body = None if live.response.body is ABSENT else live.response.body
            text = msgspec.json.encode((body, live.response.headers, live.plain)).decode()
            known = self.renewal.identities.live
            for value in given:
                if value not in known and value in text:
                    known[value] = value

    def _learn_session(self, key: str, recorded: Exchange, live: Exchange, client: Client) -> None:
        if key in (PUBLIC_KEY, SECURE_SESSION):
            self.channels.learn(key, recorded, live)
        else:
            self.sign_ins.learn(key, recorded, live, client)

    # --- time and order

    def _let_time_pass(self, position: int) -> Steps:
        """Moves the target's clock by what passed when recorded, where it can be moved."""
        if self._behind(position) <= LONG:
            return
        yield AwaitAllBefore(position)
        behind = self._behind(position)  # those before may have moved it
        if behind > LONG:
            yield Pass(behind, "the time that passed when this was recorded")
            self._moved += behind

    def _behind(self, position: int) -> float:
        """Seconds by which the target's time lags behind the recorded one."""
        plan = self.plan
        passed = plan.moments[position] - plan.moments[self._first]
        if self.scale is None:
            return passed - (self.now() - self._live_start)
        return passed - (plan.started[position] - plan.started[self._first]) - self._moved

    def _due(self, position: int) -> float | None:
        if self.scale is None:
            return None
        return (self.plan.started[position] - self.plan.started[self._first]) * self.scale

    def _left_out(self, position: int, client: Client) -> float:
        """Seconds of recorded idleness before an exchange that the replay did not spend."""
        if client.last is None or self.movable or self.scale is not None:
            return 0.0
        idle = self.plan.started[position] - self.plan.started[client.last]
        return idle if idle >= IDLE else 0.0

    # --- ends without an answer

    def _end_without_answer(
        self, position: int, state: State, reason: str, *, root: int | None = None
    ) -> None:
        line = self.plan.line(position)
        self.plan.leave_out(position, line)
        operation = line.operation
        endpoint = operation.key if operation else f"{line.request.method} {line.path}"
        number = self.plan.number_of(position)
        self._roots[position] = number if root is None else root
        self.assessor.tally.add(Outcome(number, state, endpoint, reason, root=root))

    def _root(self, position: int) -> int:
        """The first exchange in a chain of failed ones, by its number."""
        return self._roots.get(position, self.plan.number_of(position))

    def _other_names(self, recorded: Exchange) -> dict[str, str]:
        """Names that the client chose, made unique: the target may have them from an earlier replay."""
        sent = recorded.sent if isinstance(recorded.sent, dict) else {}
        chosen = {
            name: value
            for name, value in sent.items()
            if isinstance(value, str)
            and name.endswith(("Name", "Code", "Email"))
            and value not in self.plan.given
        }
        renamed = {name: self.renewal.unique(value) for name, value in chosen.items()}
        for name, value in chosen.items():
            self.renewal.identities.set(value, renamed[name])
        return renamed


def _is_taken(operation: Operation | None, recorded: Exchange, live: Exchange) -> bool:
    """Whether something could not be created that could when recorded: its name may be taken."""
    if operation is None or not (operation.path.endswith("/create") or operation.key == INVITE):
        return False
    return recorded.success and not live.success and live.status in (400, 409, 422)
