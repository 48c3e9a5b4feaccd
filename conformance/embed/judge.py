"""The judge for one's own tests: fed with responses, it raises with what contradicts the specification."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.errors import UsageError
from conformance.impacts import FailOn
from conformance.judging import judge_of, watch
from conformance.report.model.failures import FAILING
from conformance.spec import REQUIREMENTS
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Exchange, Form, Header, Json, Request, Response
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger, Verdict, described, shown
from conformance.verdicts.selection import select_rules

SHOWN_FINDINGS = 20
"""Findings that one error or warning shows; it counts the others."""


class PortalContradiction(AssertionError):
    """A response contradicts what the specification states. ``findings`` are the contradictions."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


class PortalWarning(UserWarning):
    """A response differs from what the specification shows or implies."""


class PortalJudge:
    """Judges responses one after the other, as one client saw them.

    What ``fail_on`` says is raised as PortalContradiction, by default a contradicted ``must``, and a
    ``should`` where that may let someone in, shows a secret or may lose data; any other contradiction is a
    PortalWarning. ``only`` and ``skip`` are patterns of rules, as those of ``portal-conformance run``.
    UsageError: a pattern names no rule. It is not safe from threads.
    """

    def __init__(
        self, *, fail_on: FailOn = "security", only: tuple[str, ...] = (), skip: tuple[str, ...] = ()
    ) -> None:
        self._ledger = Ledger(REQUIREMENTS, selection=select_rules(only, skip))
        self._watch = watch(self._ledger, judge=judge_of(no_cache=True))
        self._fails = FAILING[fail_on].fails
        self._secrets = Secrets()
        self._count = 0
        self._pending: list[Finding] = []

    @property
    def findings(self) -> list[Finding]:
        """Everything that was contradicted so far, once for each place."""
        return self._ledger.findings

    def feed(self, *responses: Any) -> list[Finding]:
        """Judges responses, and raises PortalContradiction where one contradicts the specification. Returns
        what they differ in otherwise. UsageError: one is no response of httpx, requests or Starlette."""
        __tracebackhide__ = True
        for response in responses:
            self.note(response)
        return self.conclude()

    def note(self, response: Any) -> list[Finding]:
        """Judges a response and returns what it contradicts; ``conclude`` raises it."""
        return self.note_exchange(exchange_of(response, self._count + 1))

    def note_exchange(self, exchange: Exchange) -> list[Finding]:
        """Judges an exchange that was built otherwise, from a capture for instance."""
        self._count += 1
        self._secrets.add_from(exchange)
        new = [each for each in self._watch(exchange) if self._ledger.counts(each)]
        self._pending += [each for each in new if each.verdict in (Verdict.FAIL, Verdict.WARN)]
        return new

    def conclude(self) -> list[Finding]:
        """Raises PortalContradiction for what was noted since; warns of the rest, and returns it."""
        __tracebackhide__ = True
        noted, self._pending = self._pending, []
        for bug in self._ledger.errors.items():
            warnings.warn(f"{': '.join(bug)}: an error of the suite itself.", PortalWarning, stacklevel=3)
        self._ledger.errors.clear()
        failing = [each for each in noted if self._fails(each)]
        others = [each for each in noted if each not in failing]
        if others:
            warnings.warn(self._text(others), PortalWarning, stacklevel=3)
        if failing:
            raise PortalContradiction(self._text(failing), tuple(failing))
        return others

    def _text(self, findings: list[Finding]) -> str:
        blocks = [_block(finding) for finding in findings[:SHOWN_FINDINGS]]
        if len(findings) > SHOWN_FINDINGS:
            blocks.append(f"and {len(findings) - SHOWN_FINDINGS} more")
        return self._secrets.redact("\n\n".join(blocks))


def _block(finding: Finding) -> str:
    """A finding as the end of a test shows it: the rule, its words, the place, and both values."""
    rule = REQUIREMENTS[finding.requirement]
    return "\n".join(
        [
            f"{finding.verdict.value.upper()} {rule.id} ({rule.section}): {rule.statement}",
            f"  at        {finding.path or 'the answer'} of {finding.endpoint}",
            f"  expected  {described(finding.expected)}",
            f"  actual    {shown(finding.actual)}",
        ]
    )


def exchange_of(response: Any, n: int = 1) -> Exchange:
    """The exchange that a response ends; the request is the one that the response holds.

    A body that is still to be read is recorded as omitted, and nothing is concluded from it. ``n`` is the
    number of the exchange. UsageError: it is no response of these clients.
    """
    request = getattr(response, "request", None)
    if request is None or not hasattr(response, "status_code"):
        raise UsageError(
            "A response of httpx, requests or Starlette's test client is needed, "
            f"and this is {type(response).__name__}."
        )
    sent, sent_form = _body(request, "content", "body")
    received, form = _body(response, "content")
    elapsed = _elapsed(response)
    return Exchange(
        n=n,
        started=(datetime.now(UTC) - elapsed).isoformat(),
        elapsed_ms=round(elapsed.total_seconds() * 1000, 3),
        request=Request(
            method=str(request.method).upper(),
            url=str(request.url),
            headers=_headers(request.headers),
            body=sent,
            form=sent_form,
        ),
        response=Response(
            status=response.status_code, headers=_headers(response.headers), body=received, form=form
        ),
    )


def _body(message: Any, *names: str) -> tuple[Json, Form | None]:
    """The body of a request or a response: httpx calls both ``content``, requests the request's ``body``."""
    for name in names:
        try:
            raw = getattr(message, name)
        except AttributeError:
            continue
        except RuntimeError:  # httpx: a stream that nobody has read, or that is used up
            return ABSENT, "omitted"
        if raw is None or isinstance(raw, str | bytes):
            return body_of(raw or b"")
        return ABSENT, "omitted"
    return ABSENT, "omitted"


def _headers(headers: Any) -> list[Header]:
    pairs: Iterable[tuple[Any, Any]] = (
        headers.multi_items() if hasattr(headers, "multi_items") else headers.items()
    )
    return [(_text(name), _text(value)) for name, value in pairs]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _elapsed(response: Any) -> timedelta:
    with suppress(RuntimeError):  # httpx knows it once the response is closed
        elapsed = getattr(response, "elapsed", None)
        if isinstance(elapsed, timedelta):
            return elapsed
    return timedelta()
