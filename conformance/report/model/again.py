"""How to reproduce a finding: the command of the suite, a curl line where one request is enough, and HAR."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache

from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.visible import one_line, visible
from conformance.traffic.capture.writer import har_entry
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Header, Json
from conformance.traffic.values import REDACTED

BUNDLED = ("", "bundled")
"""The profile names of runs against the bundled portal, which need no option."""

SET_BY_THE_CLIENT = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "user-agent", "accept", "transfer-encoding"}
)
VARIABLES = {
    "x-portal-access-code": "PORTAL_ACCESS_CODE",
    "x-turnstile-token": "BOT_CHALLENGE_TOKEN",
    "turnstiletoken": "BOT_CHALLENGE_TOKEN",
    "email": "EMAIL",
    "password": "PASSWORD",
    "cookie": "COOKIE",
}
"""Headers and body fields whose values may be redacted in the record, with the variable for each."""

RETURNED_EARLIER = frozenset({"sessionId", "refreshToken", "code", "keyId", "encReqKey", "encRespKey"})
"""Body fields whose values an earlier answer or a device returned: they cannot be sent a second time."""

MOST_CHARACTERS = 6_000
"""Characters of a text that the page shows; a longer one is left out."""


def rerun_finding(run: Run, finding: FindingEntry) -> str:
    """The command that shows a finding again, with exit code 1: by its rule, or by the case that came across
    it where the rule is about every endpoint."""
    operations = next((row.operations for row in run.requirements if row.id == finding.requirement), [])
    is_by_case = not operations and (finding.case or "").startswith("cases/") and run.command == "run"
    name = finding.case if is_by_case and finding.case else finding.requirement
    return rerun(run, name, is_strict=finding.verdict == "warn")


def rerun(run: Run, name: str, *, is_strict: bool = False) -> str:
    """The command that tests one requirement, or one case, against the same target; for a check of recorded
    traffic the command that judges the record. ``is_strict``: a warning ends it with exit code 1."""
    if run.command == "check":
        return "portal-conformance check exchanges.jsonl"
    profile = run.target.profile or ""
    words = ["portal-conformance", "run", "--rerun", name]
    if profile not in BUNDLED:
        words += ["--target", run.target.url, "--profile", profile]
    elif not profile and run.target.url:
        words += ["--target", run.target.url]
    if run.impact not in ("", "read-only") and profile not in BUNDLED:
        words += ["--impact", run.impact]
    if run.strict or is_strict:
        words.append("--strict")
    if run.scope.time_budget:
        words += ["--time-budget", run.scope.time_budget]
    return " ".join(map(_word, words))


@lru_cache(maxsize=2000)
def _word(word: str) -> str:
    """Quotes a word of a command line; cached, as most words repeat for every requirement."""
    return shlex.quote(one_line(word, 400))


def curl(exchange: Exchange, finding: FindingEntry) -> str | None:
    """A curl line that repeats the request, with secrets as variables; None where one is not enough."""
    if not _stands_alone(exchange, finding):
        return None
    request = exchange.request
    lines = [f"curl -sS -i -X {shlex.quote(request.method)} {shlex.quote(request.url)}"]
    lines += [
        f"-H {_quoted(f'{name}: ', _value_of(name, value))}" for name, value in _headers(request.headers)
    ]
    if request.body is not ABSENT:
        lines.append(f"--data-raw {_body(request.body)}")
    line = " \\\n  ".join(lines)
    return line if len(line) <= MOST_CHARACTERS and visible(line) == line else None


def har(exchanges: Sequence[Exchange], *, version: str) -> str | None:
    """The exchanges as HAR 1.2; None where they are too long for a page."""
    if not exchanges:
        return None
    creator = {"name": "portal-conformance", "version": version}
    entries = [json.loads(har_entry(each)) for each in exchanges]
    text = json.dumps({"log": {"version": "1.2", "creator": creator, "entries": entries}}, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS and visible(text) == text else None


def variables(text: str) -> list[str]:
    """The variables that a line needs, in the order they occur."""
    return list(dict.fromkeys(re.findall(r"\$([A-Z_]+)", text)))


def _stands_alone(exchange: Exchange, finding: FindingEntry) -> bool:
    request = exchange.request
    if (
        len(finding.exchanges) != 1
        or request.is_unknown
        or request.state == NOT_JSON
        or exchange.plain is not None
    ):
        return False
    if request.header("authorization") or request.header("x-secure-channel-session-id"):
        return False
    return not (isinstance(request.body, dict) and RETURNED_EARLIER & request.body.keys())


def _headers(headers: Sequence[Header]) -> Iterator[Header]:
    return ((name, value) for name, value in headers if name.lower() not in SET_BY_THE_CLIENT)


def _value_of(name: str, value: str) -> str:
    """The value, or ``$NAME`` in place of a secret or redacted one."""
    if not REDACTED.fullmatch(value):
        return value
    return f"${VARIABLES.get(name.lower()) or re.sub(r'[^A-Z0-9]+', '_', name.upper()).strip('_')}"


def _quoted(before: str, value: str) -> str:
    """A shell word of a literal and a value; a variable stays outside the single quotes."""
    if value.startswith("$"):
        return f'"{before}{value}"'
    return shlex.quote(before + value)


def _body(body: Json) -> str:
    marked = _with_variables(body)
    literal = json.dumps(marked, ensure_ascii=False).replace("'", "'\\''")
    return "'" + re.sub(r"\$([A-Z_]+)\$", r"""'"$\1"'""", literal) + "'"


def _with_variables(body: Json, name: str = "") -> Json:
    if isinstance(body, dict):
        return {key: _with_variables(value, key) for key, value in body.items()}
    if isinstance(body, list):
        return [_with_variables(value, name) for value in body]
    if isinstance(body, str):
        value = _value_of(name, body) if body else body
        return f"{value}$" if value.startswith("$") and value != body else body
    return body
