"""A finding for other tools: its requests as an ``.http`` file, its exchanges as HAR, the text of an issue.

All are made of the redacted record; a secret is a variable to fill in, or a placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.formats.finding_text import contrast, expectation, own_message, seen
from conformance.report.formats.summary import code, quoted
from conformance.report.model.again import SET_BY_THE_CLIENT, VARIABLES
from conformance.report.model.run import FindingEntry
from conformance.report.model.visible import visible
from conformance.spec.endpoints import LOGIN_COMPLETE
from conformance.traffic.capture.writer import har_entry
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.values import REDACTED

LONGEST = 6_000
"""Characters of a text that the page shows; a longer one is left out."""


def http_file(exchanges: Mapping[int, Exchange], labels: Mapping[int, str]) -> str | None:
    """The requests as editors send them; None where one cannot be sent as it is: the record lacks its body,
    it was encrypted, or it is too long."""
    if not exchanges or any(each.request.is_unknown or each.plain is not None for each in exchanges.values()):
        return None
    chain, requests = Chain(), []
    for number, each in exchanges.items():
        requests.append(_request(number, each, labels.get(number, ""), chain.body(each.request.body)))
        chain.take(number, each.data)
    text = "\n".join([*_tokens(exchanges.values()), *chain.comments(), *requests])
    return text if len(text) <= LONGEST and visible(text) == text else None


def _tokens(exchanges: Iterable[Exchange]) -> list[str]:
    """Comments that say where the access tokens come from."""
    bearers = (REDACTED.search(each.request.header("authorization") or "") for each in exchanges)
    names = dict.fromkeys(_name(found[0]) for found in bearers if found)
    return [f"# {name}: the accessToken that {LOGIN_COMPLETE} returns" for name in names]


SHORTEST_ID = 8
"""Characters of the shortest value that is taken to be an id."""


class Chain:
    """Ids that an answer returns and a later request sends: variables such as ``SESSION_ID_3``."""

    def __init__(self) -> None:
        self._returned: dict[str, tuple[str, int]] = {}
        self._used: dict[str, str] = {}

    def take(self, number: int, data: Json) -> None:
        """Takes the ids that the answer to a request returns."""
        for name, value in data.items() if isinstance(data, dict) else ():
            if name.endswith("Id") and isinstance(value, str) and len(value) >= SHORTEST_ID:
                self._returned.setdefault(value, (name, number))

    def body(self, body: Json) -> Json:
        """A body with variables in place of the ids that an earlier answer returned."""
        if not isinstance(body, dict):
            return body
        return {name: self._variable(value) for name, value in body.items()}

    def comments(self) -> list[str]:
        """Where the variables that were used come from, a line each."""
        return [f"# {name}: {source}" for name, source in self._used.items()]

    def _variable(self, value: Json) -> Json:
        if not isinstance(value, str) or value not in self._returned:
            return value
        field, number = self._returned[value]
        name = f"{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', field).upper()}_{number}"
        self._used[name] = f"the {field} that request {number} returns"
        return f"{{{{{name}}}}}"


def _request(number: int, exchange: Exchange, label: str, body: Json) -> str:
    request = exchange.request
    lines = [f"### {number}{f': {label}' if label else ''}", f"{request.method} {request.url}"]
    lines += [
        f"{name}: {_variable(name, value)}"
        for name, value in request.headers
        if name.lower() not in SET_BY_THE_CLIENT
    ]
    if body is not ABSENT:
        lines += ["", json.dumps(_with_variables(body), ensure_ascii=False, indent=2)]
    return "\n".join([*lines, ""])


def _variable(name: str, value: str) -> str:
    """The value, a placeholder in it as ``{{NAME}}``."""
    named = VARIABLES.get(name.lower())
    return REDACTED.sub(lambda found: "{{%s}}" % (named or _name(found[0])), value)


def _name(placeholder: str) -> str:
    """``[token-1]`` as ``TOKEN_1``."""
    return placeholder.strip("[]").replace("-", "_").upper()


def _with_variables(body: Json, name: str = "") -> Json:
    if isinstance(body, dict):
        return {key: _with_variables(value, key) for key, value in body.items()}
    if isinstance(body, list):
        return [_with_variables(value, name) for value in body]
    return _variable(name, body) if isinstance(body, str) else body


def har(exchanges: Sequence[Exchange], *, version: str) -> str | None:
    """The exchanges as HAR 1.2; None where they are too long for a page."""
    if not exchanges:
        return None
    creator = {"name": "portal-conformance", "version": version}
    entries = [json.loads(har_entry(each)) for each in exchanges]
    text = json.dumps({"log": {"version": "1.2", "creator": creator, "entries": entries}}, ensure_ascii=False)
    return text if len(text) <= LONGEST and visible(text) == text else None


@dataclass(frozen=True, slots=True)
class IssueDetails:
    """What the text of an issue says beside the finding: the rule's ``statement`` and ``section`` of the
    specification, the ``steps``, the last ``answer`` in a few words, the other ``places`` of the same cause,
    and the command that repeats it."""

    statement: str
    section: str
    severity: str
    steps: Sequence[str]
    rerun: str
    answer: str = ""
    places: Sequence[str] = ()


def issue_text(finding: FindingEntry, details: IssueDetails) -> str:
    """A finding as the text of an issue, in Markdown; text from the target is not interpreted."""
    place = f" at {code(finding.path)}" if finding.path else ""
    lines = [
        f"**{finding.requirement}: {details.statement}**",
        "",
        f"{code(finding.endpoint)}{place} ({details.severity})",
        "",
        f"- {contrast(finding)}: {code(expectation(finding.expected))}",
        f"- seen: {code(seen(finding))}",
        f'- specification: section "{details.section}"',
    ]
    lines += [f"- answer: {code(details.answer)}"] if details.answer else []
    lines += [f"- also at {code(each)}" for each in details.places]
    message = own_message(finding)
    if message:
        lines += ["", quoted(message, 600)]
    if details.steps:
        lines += ["", "Steps:", "", *(f"{at}. {step}" for at, step in enumerate(map(code, details.steps), 1))]
    return "\n".join([*lines, "", f"Reproduce: {code(details.rerun, 600)}"])
