"""The checks of ``conformance.checks.languages``."""

from __future__ import annotations

import pytest

from conformance.checks.languages import EVERY, languages_of
from conformance.spec.endpoints import PROFILE
from conformance.tests.proof import Proof
from conformance.tests.traffic import refusal
from conformance.traffic.exchange import Exchange


def told(language: str, message: str, **headers: str) -> Exchange:
    return refusal(PROFILE, "4010", 401, message=message, headers={"Accept-Language": language, **headers})


ENGLISH, SIMPLIFIED, TRADITIONAL = told("en", "No."), "需要访问令牌。", "需要存取權杖。"


def unacceptable(**headers: str | None) -> Exchange:
    asked = {"Accept-Language": "ja", "Accept": "application/json", **headers}
    return refusal(PROFILE, "HEADER.REFUSED", 406, headers=asked)


PROOFS = [
    Proof(
        "HEADER-004",
        [
            unacceptable(**{"Accept-Language": "fr"}),
            unacceptable(**{"Accept-Language": None}),
            unacceptable(**{"X-LOCALE": "tlh"}),
            unacceptable(**{"X-LOCALE": None}),
            unacceptable(Accept="text/html"),
            unacceptable(Accept=None),
            told("ja", "No.", Accept="application/json"),
        ],
        unacceptable(),
        silent=True,
    ),
    Proof(
        "HEADER-021",
        [
            ENGLISH,
            told("zh-hant", TRADITIONAL),
            told("zh", SIMPLIFIED),
            told("ja", "No."),
            told("fr", SIMPLIFIED),
            told("vi", SIMPLIFIED, **{"X-LOCALE": "zh"}),
            told("zh-Hant", SIMPLIFIED),
        ],
        [ENGLISH, told("zh", SIMPLIFIED), told("zh", TRADITIONAL)],
    ),
    Proof("HEADER-021", [told("en", SIMPLIFIED), told("ja", SIMPLIFIED), told("zh", SIMPLIFIED)], []),
]


@pytest.mark.parametrize(
    "text, languages",
    [
        ("Access token required", EVERY),
        ("アクセストークンが必要です。", {"ja"}),
        ("Cần có mã truy cập.", {"vi"}),
        (SIMPLIFIED, {"zh"}),
        (TRADITIONAL, {"zh-Hant", "ja"}),
        ("学生", {"zh", "ja"}),
        ("缺少令牌", {"zh", "zh-Hant", "ja"}),
        ("café", EVERY),
    ],
)
def test_letters_tell_which_language_a_text_may_be_in(text: str, languages: set[str]) -> None:
    assert languages_of(text) == languages
