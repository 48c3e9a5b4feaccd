"""How to reproduce a finding: the command of the suite, a curl line where one request is enough, and HAR."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from conformance.report.model.origins import Origins, origins_in, with_origin
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.visible import one_line, visible
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.spec.tables import MFA_METHODS
from conformance.traffic.capture.writer import har_entry
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Request
from conformance.traffic.values import REDACTED

BUNDLED = ("", "bundled")
"""The profile names of runs against the bundled portal, which need no option."""

SET_BY_THE_CLIENT = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "user-agent", "accept", "transfer-encoding"}
)

RETURNED_EARLIER = frozenset({"sessionId", "refreshToken", "code", "keyId", "encReqKey", "encRespKey"})
"""Body fields whose values an earlier answer or a device returned: a second request needs values of its own.
A placeholder whose origin is known says which."""

LOGIN_SESSION = "[session-id-1]"
"""Stands for the ``sessionId`` of a sign-in, which each sign-in begins anew."""

KEPT_BY_SIGN_IN = frozenset({"x-portal-access-code", "x-client-hash"})
"""Headers that the requests of a sign-in have in common with those of its session."""

SIGN_IN = (
    ("To sign in, this returns data.sessionId", LOGIN_INITIATE, {"email": "EMAIL", "password": "PASSWORD"}),
    (
        "this mails a code, for the method EMAIL alone",
        LOGIN_MFA_SEND,
        {"sessionId": "SESSION_ID", "method": MFA_METHODS["EMAIL"]},
    ),
    (
        f"and this returns the token, data.accessToken (the method is OTP; EMAIL is {MFA_METHODS['EMAIL']})",
        LOGIN_COMPLETE,
        {"sessionId": "SESSION_ID", "method": MFA_METHODS["OTP"], "code": "CODE"},
    ),
)
"""The requests of a sign-in: what each does, its endpoint, and its body with capitals to be replaced."""

FORGERIES = {
    "another signature": (
        r'''"${OLD%.*}.$(printf %s "${OLD##*.}" | sed 's/.$//' | tr A-Za-z B-ZAb-za)${OLD#"${OLD%?}"}"'''
    ),
    "unsigned, with the algorithm none": (
        r""""$(printf '{"typ":"JWT","alg":"none"}' | base64 | tr -d '=')."""
        r'''$(printf %s "$OLD" | cut -d. -f2)."'''
    ),
    "another claim under the same signature": (
        r""""${OLD%%.*}.$(printf %s "$OLD" | cut -d. -f2 | tr _- /+ | sed 's/$/==/' | base64 -d 2>/dev/null"""
        r''' | sed 's/}$/,"suite":true}/' | base64 | tr -d '=\n' | tr /+ _-).${OLD##*.}"'''
    ),
}
"""Shell words that make a forged token out of another one, by how the two differ."""

MOST_REQUESTS = 4
"""Requests that are repeated by curl lines."""

MOST_CHARACTERS = 6_000
"""Characters of a text that the page shows; a longer one is left out."""


def rerun_finding(run: Run, finding: FindingEntry) -> str:
    """The command that shows a finding again, with exit code 1: by its rule; by the case that came across it
    where the rule is about every endpoint; by both where other cases test the rule, or two answers of which
    another case saw the first disagree. Of a replay the last two are shown again by its recording alone."""
    rule = next((row for row in run.requirements if row.id == finding.requirement), None)
    is_of_all = rule is None or not (rule.operations or rule.is_own)
    if run.command == "replay" and (is_of_all or finding.other is not None):
        target = ["--target", run.target.url, "--profile", run.target.profile or "PROFILE"]
        words = ["portal-conformance", "replay", "RECORDING", *target, "--impact", run.impact or "read-only"]
        return " ".join(map(_word, words))
    case = finding.case if run.command == "run" and (finding.case or "").startswith("cases/") else None
    name = finding.rule_and_case or (case if case and is_of_all else finding.requirement)
    return rerun(run, name, is_strict=finding.verdict == "warn")


def rerun_rule(run: Run, id: str) -> str:
    """The command that shows the first finding of a rule again; where it has none, that tests the rule."""
    first = next((each for each in run.findings if each.requirement == id), None)
    return rerun(run, id) if first is None else rerun_finding(run, first)


def rerun(run: Run, name: str, *, is_strict: bool = False) -> str:
    """The command that tests one requirement, or one case, against the same target; for a check of recorded
    traffic the command that judges the record. ``is_strict``: a warning ends it with exit code 1."""
    is_own = any(row.is_own for row in run.requirements if row.id == name)
    rules = [word for file in run.scope.rules if is_own for word in ("--rules", file)]
    if run.command == "check":
        return " ".join(map(_word, ["portal-conformance", "check", "exchanges.jsonl", *rules]))
    profile = run.target.profile or ""
    words = ["portal-conformance", "run", "--only" if is_own else "--rerun", name, *rules]
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


def curl(exchanges: Sequence[Exchange], origins: Origins) -> str | None:
    """Curl lines that repeat the requests, with secrets as variables, above them a comment for each secret
    whose origin is known; None where a request cannot be sent a second time, or there are many."""
    exchanges = _of_a_login_session(exchanges)
    requests = [each.request for each in exchanges]
    is_repeatable = all(_is_repeatable(each, origins) for each in exchanges)
    if not 0 < len(requests) <= MOST_REQUESTS or not is_repeatable:
        return None
    sent = " ".join(text for each in requests for text in (each.url, *_headers(each), *_body(each)))
    named = origins_in(sent, origins)
    comments = [line for each in reversed(named) for line in _where_from(each, origins)]
    if LOGIN_SESSION in sent:
        comments.append(f"# {_variable(LOGIN_SESSION)}: data.sessionId of the answer to {LOGIN_INITIATE}")
    if any(LOGIN_COMPLETE in origin for origin in named.values()):
        comments += _sign_in(requests[0])
    text = "\n".join([*comments, *map(_command, requests)])
    return text if len(text) <= MOST_CHARACTERS and visible(text) == text else None


def _where_from(placeholder: str, origins: Origins) -> Iterator[str]:
    """A comment on the origin of a secret, and for a forged token the shell line that makes it."""
    yield f"# {_variable(placeholder)}: {with_origin(placeholder, origins)}"
    source, _, difference = origins[placeholder].partition(", ")
    if difference in FORGERIES:
        yield f"#   {_variable(placeholder)}={FORGERIES[difference].replace('OLD', _variable(f'[{source}]'))}"


def _command(request: Request) -> str:
    method = "-I" if request.method == "HEAD" else f"-i -X {shlex.quote(request.method)}"
    words = [f"curl -sS {method} {_quoted(request.url)}"]
    words += [f"-H {_quoted(each)}" for each in _headers(request)]
    words += [f"--data-raw {_quoted(each)}" for each in _body(request)]
    return " \\\n  ".join(words)


def _headers(request: Request) -> list[str]:
    return [f"{name}: {value}" for name, value in request.headers if name.lower() not in SET_BY_THE_CLIENT]


def _body(request: Request) -> list[str]:
    return [] if request.body is ABSENT else [json.dumps(request.body, ensure_ascii=False)]


def _of_a_login_session(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    """The exchanges, in whose requests a variable stands for the login session that one of them begins."""
    initiated = [each for each in exchanges if each.request.operation_key == LOGIN_INITIATE]
    begun = [id for each in initiated if isinstance(id := each.at("data.sessionId"), str)]

    def with_variable(exchange: Exchange) -> Exchange:
        body = exchange.request.body
        if not isinstance(body, dict) or body.get("sessionId") not in begun:
            return exchange
        return replace(exchange, request=replace(exchange.request, body={**body, "sessionId": LOGIN_SESSION}))

    return [with_variable(each) for each in exchanges]


def _sign_in(request: Request) -> Iterator[str]:
    """The curl lines of a sign-in at the target of a request, as comments."""
    portal = request.url.partition("/web/v1/")[0]
    headers = [f"{name}: {value}" for name, value in request.headers if name.lower() in KEPT_BY_SIGN_IN]
    words = " ".join(f"-H {_quoted(each)}" for each in (*headers, "Content-Type: application/json"))
    for effect, key, body in SIGN_IN:
        path = key.partition(" ")[2]
        yield f"# {effect}:"
        yield f"#   curl -sS {_quoted(portal + path)} {words} --data-raw {_quoted(json.dumps(body))}"


def har(exchanges: Sequence[Exchange], origins: Origins, *, version: str) -> str | None:
    """The exchanges as HAR 1.2, with comments on their secrets; None where they are too long for a page."""
    if not exchanges:
        return None
    creator = {"name": "portal-conformance", "version": version}
    entries = [json.loads(har_entry(each)) | _comment(each, origins) for each in exchanges]
    text = json.dumps({"log": {"version": "1.2", "creator": creator, "entries": entries}}, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS and visible(text) == text else None


def _comment(exchange: Exchange, origins: Origins) -> dict[str, str]:
    named = origins_in(har_entry(exchange).decode(), origins)
    return {"comment": " ".join(with_origin(each, origins) for each in named)} if named else {}


def _is_repeatable(exchange: Exchange, origins: Origins) -> bool:
    """Whether a request can be sent a second time: known, plain, with nothing that serves once and that a
    reader cannot get anew."""
    request = exchange.request
    if request.is_unknown or request.state == NOT_JSON or exchange.plain is not None:
        return False
    if request.header("x-secure-channel-session-id"):
        return False
    fields = request.body if isinstance(request.body, dict) else {}
    known = {name for name, value in fields.items() if value == LOGIN_SESSION or str(value) in origins}
    return not RETURNED_EARLIER & fields.keys() - known


def _quoted(text: str) -> str:
    """A shell word of a text; each placeholder in it is a variable outside of the single quotes."""
    literals, placeholders = REDACTED.split(text), REDACTED.findall(text)
    words = [shlex.quote(literals[0])] if literals[0] or not placeholders else []
    for placeholder, literal in zip(placeholders, literals[1:], strict=True):
        words += [f'"${_variable(placeholder)}"', *([shlex.quote(literal)] if literal else [])]
    return "".join(words)


def _variable(placeholder: str) -> str:
    """``TOKEN_3`` for ``[token-3]``."""
    return placeholder[1:-1].replace("-", "_").upper()
