"""Languages: every listed one is served, and only texts change with it (chapter "Common request headers")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from cases.changing import put_back
from cases.nobody import unknown_id
from cases.premises import answered, granted, listed
from cases.profile.values import updatable
from cases.reading import read
from conformance.cases import (
    BY_KEY,
    HELD,
    LANGUAGES,
    UNFILTERED,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    contradicts,
    equal,
    holds,
    is_success,
    mark,
    op,
)

Asking = Callable[[Portal, str, str], Exchange]
"""A request that is refused, by a caller's token and in a language."""


def without_a_token(portal: Portal, token: str, language: str) -> Exchange:
    return portal.call(op.PROFILE, headers={"Accept-Language": language})


def for_an_unknown_record(portal: Portal, token: str, language: str) -> Exchange:
    unknown = unknown_id(portal.record("account"))
    return portal.call(op.ACCOUNT, token=token, headers={"Accept-Language": language}, userBizId=unknown)


def with_an_invalid_body(portal: Portal, token: str, language: str) -> Exchange:
    body = {**UNFILTERED[op.ACCOUNTS_QUERY], "page": "first"}
    return portal.call(op.ACCOUNTS_QUERY, json=body, token=token, headers={"Accept-Language": language})


@mark.requirement("HEADER-007", "HEADER-018", "HEADER-021")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ask", [without_a_token, for_an_unknown_record, with_an_invalid_body])
def test_a_language_changes_no_code_and_no_status_of_a_refusal(
    portal: Portal, verify: Verify, admin: Account, ask: Asking, language: str
) -> None:
    in_english = answered(ask(portal, admin.token, "en"))
    refused = answered(ask(portal, admin.token, language))

    for place, expected in (("status", in_english.status), ("code", in_english.at("code"))):
        verify("HEADER-007", equal(refused, place, expected, in_english, message=f"in {language} it differs"))


@mark.requirement("HEADER-008")
def test_a_language_that_is_not_listed_is_served_too(portal: Portal, verify: Verify, admin: Account) -> None:
    """One language: a list with weights is none of the values that the header is said to have."""
    plain = granted(portal.call(op.PROFILE, token=admin.token))
    served = answered(portal.call(op.PROFILE, token=admin.token, headers={"Accept-Language": "fr"}))
    verify("HEADER-008", is_success(served, plain))


@mark.requirement("HEADER-020")
def test_without_a_language_texts_are_in_english(portal: Portal, verify: Verify, admin: Account) -> None:
    """As far as they follow the language: what is no text of any language says nothing. An account may have a
    default language of its own, which a portal may go by where the caller is known."""
    locale = portal.profile.portal.headers.get("X-LOCALE", "en")
    if not locale.lower().startswith("en"):
        raise Untestable(f"the profile asks for the locale {locale}: it may be the default", "configuration")
    own = granted(portal.call(op.PROFILE, token=admin.token)).at("data.defaultLanguage")
    is_english = not isinstance(own, str) or own.lower().startswith("en")
    for texts_of, place in ((labels, "data"), (message, "message")):
        english = texts_of(portal, admin, "en")
        others = [texts_of(portal, admin, language) for language in LANGUAGES if language != "en"]
        # After the others: a language must not stay from one request to the next.
        unnamed = texts_of(portal, admin, None)
        foreign = [other.shown for other in others if other.shown != english.shown]
        if not foreign or (texts_of is labels and not is_english):
            continue
        if unnamed.shown == english.shown:
            verify("HEADER-020", HELD)
        elif unnamed.shown in foreign:
            expected, shown = next(
                pair for pair in zip(english.shown, unnamed.shown, strict=False) if pair[0] != pair[1]
            )
            verify("HEADER-020", contradicts(unnamed.answer, place, expected, shown))
    if "HEADER-020" not in verify.decided:
        verify.untested("HEADER-020", "no text is another one in another of the listed languages", "target")


@mark.requirement("HEADER-024")
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_an_error_is_in_english_whatever_language_its_caller_has(
    portal: Portal, verify: Verify, spare: Account
) -> None:
    locale = portal.profile.portal.headers.get("X-LOCALE", "en")
    if not locale.lower().startswith("en"):
        raise Untestable(f"the profile asks for the locale {locale}: it may be the default", "configuration")
    fields = updatable(granted(portal.call(op.PROFILE, token=spare.token)))
    english, unnamed, japanese = (
        _of_unknown_role(portal, spare, language) for language in ("en", None, "ja")
    )
    if "defaultLanguage" not in fields or english != unnamed or english == japanese:
        raise Untestable("its errors do not show in which language they are", "target")
    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        granted(change.ask({**fields, "defaultLanguage": "ja"}))
        refused = _refused(portal, spare, None)
        shown = refused.at("message")
        is_english = shown != japanese
        verify("HEADER-024", holds(refused, "message", is_english, english, actual=shown))


def _of_unknown_role(portal: Portal, caller: Account, language: str | None) -> Json:
    return _refused(portal, caller, language).at("message")


def _refused(portal: Portal, caller: Account, language: str | None) -> Exchange:
    unknown = unknown_id(portal.record("role"))
    headers = {"Accept-Language": language}
    return answered(portal.call(op.ROLE, token=caller.token, headers=headers, roleBizId=unknown))


@dataclass(frozen=True)
class Texts:
    """What an answer says to people, in an order that does not depend on the answer's."""

    answer: Exchange
    shown: list[str]


def labels(portal: Portal, admin: Account, language: str | None) -> Texts:
    headers = {"Accept-Language": language}
    listing = granted(read(portal, BY_KEY[op.COUNTRIES], token=admin.token, headers=headers))
    return Texts(listing, sorted(f"{item.get('code')}: {item.get('label')}" for item in listed(listing)))


def message(portal: Portal, admin: Account, language: str | None) -> Texts:
    refused = answered(portal.call(op.PROFILE, headers={"Accept-Language": language}))
    return Texts(refused, [str(refused.at("message"))])
