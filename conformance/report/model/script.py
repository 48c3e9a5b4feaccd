"""A short Python script that repeats the steps of a finding through the suite's own client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from conformance.report.model.again import REDACTED
from conformance.report.model.evidence import SignInRecord
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.script_text import script_text
from conformance.report.model.visible import visible
from conformance.spec import Operation, operation_of
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.spec.tables import MFA_METHODS, RECORD_OF_PARAMETER
from conformance.traffic.exchange import ABSENT, Exchange, Json

FACTORS = {value: code for code, value in MFA_METHODS.items()}
KEPT_HEADERS = ("accept-language", "x-workspace-id", "x-api-key", "cookie")
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
        steps.wants_refusal = finding.expected is False or "AUTH.MFA_CODE_INVALID" in str(finding.expected)
        lines += steps.lines(exchanges[-1])
    except Unrepeatable:
        return None
    text = script_text(run, finding, lines, answer=steps.final)
    return text if len(text) <= LONGEST and visible(text) == text else None


@dataclass
class ScriptSteps:
    """Turns exchanges into calls, one after the other; ``given`` says where a value came from, and
    ``wants_refusal`` that the code of the next step was meant to be wrong, whatever became of it."""

    sign_ins: SignInRecord
    wants_refusal: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    prepared: list[str] = field(default_factory=list)
    signed_in: int = 0
    count: int = 0
    last: float | None = None
    has_sent: bool = False

    def lines(self, exchange: Exchange) -> Iterator[str]:
        row = operation_of(exchange.request.method, exchange.request.path)
        if exchange.response is None or row is None:
            raise Unrepeatable
        _is_harmless(row, exchange)
        if self.last is not None and exchange.time - self.last > PAUSE:
            yield f'portal.clock.wait({exchange.time - self.last:.0f}, "what the run waited for")'
        self.last = exchange.time
        call = self._call(row, exchange)
        yield from self.prepared
        self.prepared.clear()
        self.count += 1
        yield f"step{self.count} = {call}"
        self._remember(exchange)

    @property
    def final(self) -> str:
        return f"step{self.count}"

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
        is_wrong = exchange.code == "AUTH.MFA_CODE_INVALID" or self.wants_refusal
        kind = "wrong_code" if is_wrong else "code"
        asked = f"portal.account({exchange.client!r}).{kind}({factor!r})"
        if factor == "EMAIL" and kind == "code" and not self.has_sent:
            self.prepared.append(f"portal.login.send({session})")
        return f"portal.login.complete({session}, method={factor!r}, code={asked})"

    def _plain_call(self, row: Operation, exchange: Exchange) -> str:
        request = exchange.request
        arguments = [repr(row.key)]
        if request.is_unknown or request.state in ("text", "base64"):
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
        if row.bot_challenge and not request.header("x-turnstile-token"):
            arguments.append("bot_challenge=False")
        arguments += [f"{name}={value}" for name, value in self._parameters(row, exchange)]
        return f"portal.call({', '.join(arguments)})"

    def _token(self, exchange: Exchange) -> str:
        token = exchange.request.bearer
        if token is None:
            return ""
        if token in self.variables:
            variable = self.variables[token]
            return f"{variable}.token" if variable.startswith("session") else variable
        if not REDACTED.fullmatch(token):
            return repr(token)
        if not self.sign_ins.tokens.get(token):
            raise Unrepeatable  # nobody gave it: a forged or broken one
        return (
            self._prepare(
                token, "session", f"portal.account({self.sign_ins.tokens[token]!r}).fresh_sign_in()"
            )
            + ".token"
        )

    def _headers(self, exchange: Exchange) -> Iterator[tuple[str, str | None]]:
        """What the request says in other words than every request does."""
        code = exchange.request.header("x-portal-access-code")
        if code is None:
            yield "X-PORTAL-ACCESS-CODE", None
        elif code != self.sign_ins.access_code:
            yield "X-PORTAL-ACCESS-CODE", "not-the-code"
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
            by_name = exchange.success and record is not None and not is_handed_over
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

    def _remember(self, exchange: Exchange) -> None:
        self.has_sent = self.has_sent or exchange.request.path.endswith("/login/mfa/send")
        for path, value in _texts(exchange.data, "data"):
            if len(value) >= 8:
                self.variables.setdefault(value, f'step{self.count}.at("{path}")')


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
