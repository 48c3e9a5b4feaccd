"""A short Python script that repeats the steps of a finding through the suite's own client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from conformance.report.model.again import WRONG_CODE
from conformance.report.model.evidence import SignInRecord
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.script_text import script_text
from conformance.report.model.severity import ACCESS_CODES
from conformance.report.model.visible import visible
from conformance.spec import Operation, operation_of
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.spec.tables import MFA_METHODS, RECORD_OF_PARAMETER
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json
from conformance.traffic.values import REDACTED

FACTORS = {value: code for code, value in MFA_METHODS.items()}
KEPT_HEADERS = ("accept-language", "x-workspace-id", "x-api-key", "cookie")
BOT_CHALLENGE = "x-turnstile-token"
WITHOUT_ACCESS = ("limited", "pending")
"""The accounts of the profile that are to be kept out although they signed in."""

ACCESS_STATUSES = (401, 403)
TOO_MANY = 429
MOST_STEPS = 8
PAUSE = 5.0
"""Seconds between two steps from which on the script waits as the run did."""

LONGEST = 6_000


class Unrepeatable(Exception):
    """A step depends on what a script cannot have."""


def script(
    run: Run, finding: FindingEntry, exchanges: Sequence[Exchange], sign_ins: SignInRecord
) -> str | None:
    """The script, which ends with 1 where it reproduces the contradiction, and with 0 where not.

    None where a step changes something (only the suite restores it), or needs a value that is gone.
    """
    if (
        run.command != "run"
        or not exchanges
        or len(exchanges) > MOST_STEPS
        or len(exchanges) != len(finding.exchanges)
    ):
        return None
    steps = ScriptSteps(sign_ins)
    try:
        lines = [line for exchange in exchanges[:-1] for line in steps.lines(exchange)]
        steps.wants_refusal = _is_kept_out(finding.expected)
        steps.wants_error = finding.path in ("status", "code", "success") and finding.expected is not True
        lines += steps.lines(exchanges[-1])
    except Unrepeatable:
        return None
    text = script_text(run, finding, lines, answers=steps.answers, emails=sign_ins.passwords)
    return text if len(text) <= LONGEST and visible(text) == text else None


@dataclass
class ScriptSteps:
    """Turns exchanges into calls, one after the other; ``given`` says where a value came from, and
    ``wants_refusal`` that the next step is to be refused, ``has_completed`` that a sign-in ended; ``answers``
    are the variables of the answers so far, each with whether it was a success."""

    sign_ins: SignInRecord
    wants_refusal: bool = False
    wants_error: bool = False
    """Whether the next step is to be answered with an error: then its ids are sent as they were."""
    variables: dict[str, str] = field(default_factory=dict)
    prepared: list[str] = field(default_factory=list)
    signed_in: int = 0
    codes: int = 0
    answers: list[tuple[str, bool]] = field(default_factory=list)
    last: float | None = None
    has_sent: bool = False
    has_completed: bool = False

    def lines(self, exchange: Exchange) -> Iterator[str]:
        row = operation_of(exchange.request.method, exchange.request.path)
        if exchange.response is None or row is None or exchange.status == TOO_MANY:
            raise Unrepeatable  # what used up a rate limit is not among the steps
        _is_harmless(row, exchange)
        if self.last is not None and exchange.time - self.last > PAUSE:
            yield f'portal.clock.wait({exchange.time - self.last:.0f}, "what the run waited for")'
        self.last = exchange.time
        call = self._call(row, exchange)
        yield from self.prepared
        self.prepared.clear()
        name = f"step{len(self.answers) + 1}"
        self.answers.append((name, exchange.success))
        yield f"{name} = {call}"
        self._remember(exchange, name)

    def _call(self, row: Operation, exchange: Exchange) -> str:
        sent = exchange.sent
        if isinstance(sent, dict):
            if row.key == LOGIN_INITIATE and sent.keys() == {"email", "password"}:
                return self._initiate(exchange, sent)
            if row.key == LOGIN_MFA_SEND and sent.keys() == {"sessionId", "method"}:
                return f"portal.login.send({self._session(sent['sessionId'])}, {sent['method']!r})"
            if row.key == LOGIN_COMPLETE and sent.keys() == {"sessionId", "method", "code"}:
                return self._complete(exchange, sent)
        if row.encrypted and exchange.plain is not None:
            raise Unrepeatable  # what is in it are passwords
        return self._plain_call(row, exchange)

    def _initiate(self, exchange: Exchange, sent: Mapping[str, Json]) -> str:
        """By an account of the profile, with its password or another."""
        email, password = sent["email"], sent["password"]
        if not isinstance(password, str) or not REDACTED.fullmatch(password):
            return f"portal.call({LOGIN_INITIATE!r}, json={self._value(dict(sent))})"
        if not exchange.client:
            return f"portal.login.initiate({self._value(email)})"
        right = self.sign_ins.password_of(str(email))
        account = f"portal.account({exchange.client!r})"
        return f"portal.login.initiate({account}{'' if password == right else ', portal.wrong_password()'})"

    def _complete(self, exchange: Exchange, sent: Mapping[str, Json]) -> str:
        session, method, code = self._session(sent["sessionId"]), sent["method"], sent["code"]
        if not isinstance(code, str) or not REDACTED.fullmatch(code):
            return f"portal.login.complete({session}, method={method!r}, code={self._value(code)})"
        factor = FACTORS.get(method) if isinstance(method, int) else None
        if not exchange.client or factor is None:
            raise Unrepeatable
        if code.startswith(WRONG_CODE):
            wrong = f"portal.account({exchange.client!r}).wrong_code({factor!r})"
            return f"portal.login.complete({session}, method={factor!r}, code={wrong})"
        if factor == "EMAIL" and not self.has_sent and code not in self.variables:
            self.prepared.append(f"portal.login.send({session})")
            self.has_sent = True
        code_name = self._code(code, f"portal.account({exchange.client!r}).code({factor!r})")
        return f"portal.login.complete({session}, method={factor!r}, code={code_name})"

    def _code(self, placeholder: str, call: str) -> str:
        """The variable of a code of the account: the same one where the same code is sent again. One that the
        portal is to refuse was used before, or is another account's or method's."""
        if placeholder not in self.variables:
            if self.wants_refusal and not self.has_completed:
                raise Unrepeatable
            self.codes += 1
            self.variables[placeholder] = f"code{self.codes}"
            self.prepared.append(f"code{self.codes} = {call}")
        return self.variables[placeholder]

    def _plain_call(self, row: Operation, exchange: Exchange) -> str:
        request = exchange.request
        arguments = [repr(row.key)]
        if request.is_unknown or request.state == NOT_JSON:
            raise Unrepeatable
        if request.body is not ABSENT:
            arguments.append(f"json={self._value(request.json)}")
        if request.parts.query:
            query = dict(parse_qs(request.parts.query, True))
            arguments.append(f"query={self._value(query)}")
        token = self._token(exchange)
        if token:
            arguments.append(f"token={token}")
        headers = dict(self._headers(exchange))
        if headers:
            arguments.append(f"headers={headers!r}")
        if row.bot_challenge and not request.header(BOT_CHALLENGE):
            arguments.append("bot_challenge=False")
        arguments += [f"{name}={value}" for name, value in self._parameters(row, exchange)]
        return f"portal.call({', '.join(arguments)})"

    def _token(self, exchange: Exchange) -> str:
        token = exchange.request.bearer
        if token is None:
            if exchange.request.header("authorization") is not None:
                raise Unrepeatable  # another scheme than Bearer
            return ""
        if token in self.variables:
            variable = self.variables[token]
            return f"{variable}.token" if variable.startswith("session") else variable
        if not REDACTED.fullmatch(token):
            return repr(token)
        account = self.sign_ins.tokens.get(token)
        if not account:
            raise Unrepeatable  # nobody gave it: a forged or broken one
        if self.wants_refusal and account not in WITHOUT_ACCESS:
            raise Unrepeatable  # what ended the session is not among the steps
        return f"{self._prepare(token, 'session', f'portal.account({account!r}).fresh_sign_in()')}.token"

    def _headers(self, exchange: Exchange) -> Iterator[tuple[str, str | None]]:
        """What the request says in other words than every request does."""
        code = exchange.request.header("x-portal-access-code")
        if code is None:
            yield "X-PORTAL-ACCESS-CODE", None
        elif code != self.sign_ins.access_code:
            yield "X-PORTAL-ACCESS-CODE", "not-the-code"
        challenge = exchange.request.header(BOT_CHALLENGE)
        if challenge is not None and challenge != self.sign_ins.bot_challenge:
            if REDACTED.search(challenge):
                raise Unrepeatable
            yield BOT_CHALLENGE, challenge
        for name, value in exchange.request.headers:
            if name.lower() in KEPT_HEADERS:
                if REDACTED.search(value):
                    raise Unrepeatable
                yield name, value

    def _parameters(self, row: Operation, exchange: Exchange) -> Iterator[tuple[str, str]]:
        match = row.pattern.search(exchange.request.path)
        for name in row.parameters if match else ():
            value = match[name] if match else ""
            record = RECORD_OF_PARAMETER.get(name)
            is_handed_over = value in self.variables
            is_shown = exchange.at("data.bizId") in (ABSENT, value)  # else another record than asked for
            is_own = exchange.success and is_shown and not self.wants_error
            by_name = is_own and record is not None and not is_handed_over
            yield name, f"portal.record({record!r})" if by_name else self._value(value)

    def _session(self, value: Json) -> str:
        """A login session: of an earlier step, or begun anew by the account that began it."""
        account = self.sign_ins.sessions.get(value) if isinstance(value, str) else None
        if account is None or value in self.variables:
            return self._value(value)
        return self._prepare(str(value), "login", f"portal.login.initiate(portal.account({account!r}))")

    def _prepare(self, value: str, name: str, call: str) -> str:
        """The variable that stands for a value that a call before the steps gives, one call for each."""
        if value not in self.variables:
            self.signed_in += 1
            self.variables[value] = f"{name}{self.signed_in}"
            self.prepared.append(f"{self.variables[value]} = {call}")
        return self.variables[value]

    def _value(self, value: Json) -> str:
        """A value as Python; what an earlier answer gave is taken from that answer."""
        if isinstance(value, dict):
            return "{" + ", ".join(f"{name!r}: {self._value(item)}" for name, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(self._value(item) for item in value) + "]"
        if isinstance(value, str) and value in self.variables:
            return self.variables[value]
        if isinstance(value, str) and REDACTED.search(value):
            raise Unrepeatable
        return repr(value)

    def _remember(self, exchange: Exchange, name: str) -> None:
        self.has_sent = self.has_sent or exchange.request.path.endswith("/login/mfa/send")
        self.has_completed = self.has_completed or exchange.at("data.accessToken") is not ABSENT
        for path, value in _texts(exchange.data, "data"):
            if len(value) >= 8:
                self.variables.setdefault(value, f'{name}.at("{path}")')


def _is_kept_out(expected: Json) -> bool:
    """Whether somebody was to be kept out, and not a request to be refused for its form."""
    if isinstance(expected, dict):
        return any(_is_kept_out(expected.get(name)) for name in ("status", "code", "one of"))
    if isinstance(expected, list):
        return bool(expected) and all(map(_is_kept_out, expected))
    return expected is False or expected in ACCESS_STATUSES or expected in ACCESS_CODES


def _is_harmless(row: Operation, exchange: Exchange) -> None:
    """Only what reads, signs in, or was refused may be sent by a script, which puts nothing back."""
    if row.impact != "read-only" and exchange.success:
        raise Unrepeatable


def _texts(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """The texts of an answer with their places: of its objects, and of the first items of its arrays."""
    if isinstance(value, dict):
        for name, item in value.items():
            if str(name).isidentifier():
                yield from _texts(item, f"{path}.{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value[:20]):
            yield from _texts(item, f"{path}[{at}]")
    elif isinstance(value, str):
        yield path, value
