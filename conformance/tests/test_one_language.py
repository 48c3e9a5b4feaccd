"""A portal that answers in one language: why its default language is not tested."""

from __future__ import annotations

import httpx

from cases.headers import test_languages
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import answer, answering
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify

SIGNED_IN: Json = {"sessionId": "s", "accessToken": "a", "expiresIn": 3600, "defaultLanguage": "en"}


def in_english(request: httpx.Request) -> httpx.Response:
    if "/constants/" in request.url.path:
        return answer([{"code": "CN", "value": 95010301, "label": "China"}])
    if "/roles" in request.url.path:
        return answer(status=404, code="RESOURCE.NOT_FOUND")
    return answer(SIGNED_IN)


def test_the_reason_names_what_the_texts_do_not_show() -> None:
    ledger = Ledger(REQUIREMENTS)
    portal = answering(in_english)

    case = test_languages.test_without_a_language_texts_are_in_english
    case(portal, Verify(ledger, "a case", ["HEADER-020"]), portal.account("admin"))

    result = next(row for row in ledger.results() if row.requirement.id == "HEADER-020")
    assert result.verdict is Verdict.UNTESTED
    assert result.reason == "no text is another one in another of the listed languages"
