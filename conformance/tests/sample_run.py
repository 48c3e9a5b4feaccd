"""A run made up for the reports' tests: every requirement, a few findings, and their exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from conformance.report.across.baseline import Baseline, outcome_of
from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.formats.write import write_all
from conformance.report.model.marked import at
from conformance.report.model.regressions import pattern_of
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.visible import each_text, encodable
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain, Request, Response
from conformance.verdicts.findings import Contradiction, Ledger, Verdict

URL = "https://portal.example.test"
START = datetime(2026, 11, 21, 9, 53, 7, tzinfo=UTC)
INITIATE = "POST /web/v1/system/auth/login/initiate"
COMPLETE = "POST /web/v1/system/auth/login/complete"
CHANGE = "POST /web/v1/system/auth/password/change"
ACCOUNTS = "POST /web/v1/system/accounts/admin/query"
PROFILE = "GET /web/v1/system/profile"
ROLES = "GET /web/v1/system/roles"


def envelope(data: Json = None, **changes: Json) -> dict[str, Json]:
    """A successful answer; a keyword changes a field, ABSENT takes it out."""
    whole: dict[str, Json] = {
        "version": "2.0.0",
        "timestamp": 1795254787000,
        "success": True,
        "code": "2000",
        "message": "Success",
        "data": data,
    }
    whole.update(changes)
    return {name: value for name, value in whole.items() if value is not ABSENT}


def error(code: str, message: str = "refused", data: Json = None) -> dict[str, Json]:
    return envelope(data, success=False, code=code, message=message)


def exchange(
    n: int,
    call: str,
    *,
    sent: Json = ABSENT,
    answer: Json = ABSENT,
    status: int = 200,
    after: float = 0.0,
    took: float = 12.0,
    token: bool = False,
    plain: Plain | None = None,
    headers: Sequence[tuple[str, str]] = (),
    content_type: str = "application/json",
) -> Exchange:
    """One exchange, ``after`` seconds from the start of the run; secrets stand as the capture writes them."""
    method, path = call.split(" ", 1)
    usual = [
        ("X-PORTAL-ACCESS-CODE", "[access-code-1]"),
        ("X-Client-Hash", "c0ffee"),
        ("X-Request-Id", f"6f1c{n:04d}"),
        ("Content-Type", "application/json"),
    ]
    if token:
        usual.append(("Authorization", "Bearer [token-1]"))
    return Exchange(
        n=n,
        started=(START + timedelta(seconds=after)).isoformat(timespec="milliseconds"),
        elapsed_ms=took,
        client="admin",
        request=Request(method=method, url=URL + path, headers=[*usual, *headers], body=sent),
        response=Response(status=status, headers=[("content-type", content_type)], body=answer),
        plain=plain,
    )


@dataclass
class Sample:
    """A run in the making: its exchanges, and the ledger that they are decided in."""

    ledger: Ledger = field(default_factory=lambda: Ledger(REQUIREMENTS))
    exchanges: list[Exchange] = field(default_factory=list)

    def add(self, *exchanges: Exchange) -> None:
        self.exchanges += exchanges

    def contradict(
        self, requirement: str, *seen: Exchange, path: str, expected: Json, message: str = ""
    ) -> None:
        """Decides a requirement against the last of the exchanges; the others led there."""
        last = seen[-1]
        contradiction = Contradiction(last, path, expected, at(last, path), message, seen[:-1])
        self.ledger.decide(requirement, contradiction, case="cases/sample.py::test_case")

    def write(self, path: Path) -> Path:
        """The exchanges as a capture holds them: halves of surrogate pairs never get into one."""
        lines = (each_text(msgspec.to_builtins(exchange), encodable) for exchange in self.exchanges)
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        return path

    def run(self, **changes: Any) -> Run:
        """The run of what was decided; a keyword replaces an argument of ``Run.of``."""
        results = self.ledger.results()
        arguments: dict[str, Any] = {
            "target_url": URL,
            "target_profile": "staging.toml",
            "started": START,
            "finished": START + timedelta(seconds=102.4),
            "impact": "read-only",
            "fail_on": "security",
            "exit_code": 1 if any(result.verdict is Verdict.FAIL for result in results) else 0,
        }
        if changes.pop("strict", False):
            changes["fail_on"] = "should"
        arguments.update(changes)
        return Run.of(results, self.ledger.findings, self.ledger.observations, **arguments)


def page_of(made: Sample, folder: Path, **changes: Any) -> str:
    """The report of a sample, as ``report.html`` in a folder."""
    write_all(made.run(**changes), folder, exchanges=made.write(folder / "exchanges.jsonl"))
    return (folder / "report.html").read_text(encoding="utf-8")


def reported(folder: Path, run: Run) -> Path:
    """The ``results.json`` of a run, in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "results.json"
    path.write_text(run.text(), encoding="utf-8")
    return path


def card_of(page: str, rule: str) -> str:
    """The card of a finding in a report."""
    return page.partition(f'id="finding-{rule}"')[2].partition("</article>")[0]


def conformant() -> Sample:
    """A run in which everything that can be decided held."""
    builder = Sample()
    for row in REQUIREMENTS.values():
        if row.level != "open" and not row.untestable:
            builder.ledger.satisfy(row.id, case=f"check {row.chapter.lower()}.holds")
    builder.add(
        exchange(
            1,
            INITIATE,
            sent={"email": "admin@example.test", "password": "[password-1]"},
            answer=envelope({"sessionId": "9b1f", "mfaMethods": [], "expiresIn": 300}),
            took=48,
        ),
        exchange(
            2,
            COMPLETE,
            sent={"sessionId": "9b1f", "method": 10011002, "code": "[code-1]"},
            answer=envelope({"accessToken": "[token-1]", "refreshToken": "[refresh-token-1]"}),
            after=0.2,
            took=31,
        ),
    )
    for number in range(3, 40):
        builder.add(
            exchange(
                number, ROLES, answer=envelope([]), after=0.3 + number / 9, took=5 + number % 7, token=True
            )
        )
    for row in REQUIREMENTS.values():
        if row.reading:
            builder.ledger.observe(row.reading, builder.exchanges[0], True)
    builder.ledger.observe("page-sizes", builder.exchanges[5], [20, 50])
    return builder


def sample() -> Sample:
    """Five failures, one warning, readings, untested ones, and everything else passed."""
    builder = conformant()
    _failures(builder)
    for row in REQUIREMENTS.values():
        if row.chapter in ("FILE", "ORDER") and row.level != "open" and not row.untestable:
            builder.ledger.tallies.pop(row.id, None)
            part = "[records] file" if row.chapter == "FILE" else "[bot_challenge]"
            builder.ledger.leave_untested(row.id, f"the profile gives no {part}")
    return builder


def _failures(made: Sample) -> None:
    session = made.exchanges[0]
    wrong = exchange(
        40,
        INITIATE,
        sent={"email": "nobody@example.test", "password": "not the password"},
        answer=error("AUTH.INVALID_CREDENTIALS", "Bad credentials", {}),
        status=401,
        after=5.5,
    )
    accounts = [
        {"bizId": f"ACC-{n:03d}", "accountName": f"Account {n}", "createdAt": "2026-01-02T03:04:05.678Z"}
        for n in range(20)
    ]
    told = {"totalElements": 61, "totalPages": 3, "currentPage": 1, "pageSize": 20}
    page = exchange(
        41,
        ACCOUNTS,
        sent={"page": 0, "size": 20},
        answer=envelope({"accounts": accounts, **told}),
        after=6.0,
        token=True,
        took=88,
    )
    late = exchange(
        42,
        COMPLETE,
        sent={"sessionId": "9b1f", "method": 10011002, "code": "[code-2]"},
        answer=error("AUTH.SESSION_NOT_FOUND", "Unknown session"),
        status=404,
        after=67.5,
    )
    seconds = exchange(
        43, PROFILE, answer=envelope({"bizId": "ACC-001"}, timestamp=1795254787), after=67.9, token=True
    )
    sealed = exchange(
        44,
        CHANGE,
        sent='{"v":2,"p":"pZk0m1Vx8uY2bQ=="}',
        token=True,
        answer=envelope({"key": "[key-1]"}),
        after=68.4,
        plain=Plain(request={"oldPassword": "[password-1]", "newPassword": "[password-2]"}),
        headers=[("X-Secure-Channel-Session-Id", "SC-77")],
    )
    made.add(wrong, page, late, seconds, sealed)
    made.contradict("ENV-008", wrong, path="data", expected=None)
    made.contradict(
        "PAGE-026",
        page,
        path="data.currentPage",
        expected=0,
        message="the page asked for is 0, the page given is 1",
    )
    made.contradict(
        "LOGIN-030",
        session,
        late,
        path="success",
        expected=True,
        message="the right code was refused after a wrong one",
    )
    made.contradict("ENV-011", seconds, path="timestamp", expected="an integer, epoch milliseconds")
    made.contradict(
        "ACCOUNT-015",
        page,
        path="data.accounts[7].updatedAt",
        expected="a text in ISO 8601, UTC, with fractional seconds",
    )
    made.contradict(
        "SECURE-007",
        sealed,
        path="data.key",
        expected="no AES key",
        message="the answer returns the response key",
    )


def finding(**changes: Any) -> FindingEntry:
    """A finding of ENV-008; a keyword changes a field."""
    fields: dict[str, Any] = {
        "requirement": "ENV-008",
        "verdict": "fail",
        "case": "cases/sample.py::test_case",
        "endpoint": INITIATE,
        "message": "data: expected null, seen {}",
        "expected": None,
        "actual": {},
        "exchanges": [1],
        "path": "data",
        "signature": f"ENV-008 {INITIATE} data",
    }
    return FindingEntry.model_validate({**fields, **changes})


def row_of(finding: FindingEntry) -> BaselineRow:
    """The row that lists a finding, without a reason of its own."""
    return BaselineRow(finding.requirement, finding.endpoint, pattern_of(finding.path))


def with_rows(run: Run, *rows: BaselineRow) -> Run:
    """The run, compared with rows of a baseline on a day."""
    outcome = outcome_of(run, Baseline("known.toml", rows), date(2026, 11, 21))
    return run.model_copy(update={"baseline": outcome})
