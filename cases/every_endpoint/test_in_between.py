"""One request's life in the next: an endpoint is read, read otherwise, and read again as before.

A language, another account or a filter shows in the answer to the request that has it, and in no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from cases.authentication.steps import an_account
from cases.nobody import unknown_id
from cases.premises import WRITTEN, answered, granted
from cases.reading import READABLE, body_of, read
from cases.surroundings import OWN, SHARED, id_of_record
from conformance.cases import (
    ABSENT,
    BESIDE_ADMIN,
    BY_KEY,
    LANGUAGES,
    Account,
    Exchange,
    Json,
    Operation,
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

Answers = tuple[Exchange, Exchange, Exchange]

CODED = ("code", "Code", "Id", "etag")
"""Endings of the names of fields whose texts belong to no language."""


def values_of(answer: Exchange) -> dict[str, Json]:
    """The scalars of an answer by place. Records stand by ids, as the order of a list may follow labels."""
    return dict(_places(answer.data, "data"))


def _places(value: Json, at: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, f"{at}.{name}")
    elif isinstance(value, list):
        yield f"{at}.length", len(value)
        for index, item in enumerate(value):
            id = (id_of_record(item) or item.get("code")) if isinstance(item, dict) else None
            yield from _places(item, f"{at}[{id or index}]")
    else:
        yield at, value


def belongs_to_a_language(at: str, *values: Json) -> bool:
    """Whether a place may hold a text for people, which a language may lack."""
    texts = [value for value in values if value is not ABSENT and value is not None]
    return not at.endswith(CODED) and all(isinstance(value, str) for value in texts)


def visits_of(row: Operation, effort: str) -> list[tuple[str, ...]]:
    """The languages that are asked for between two requests without one: all together, of which another one
    than English is the last at each endpoint, or each by itself."""
    turn = 1 + row.number % (len(LANGUAGES) - 1)
    together = ("en", *LANGUAGES[turn:], *LANGUAGES[1:turn])
    return [(language,) for language in LANGUAGES] if effort == "thorough" else [together]


@mark.requirement("HEADER-004", "HEADER-007", "HEADER-018", "AGREE-011")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in READABLE])
def test_a_listed_language_is_served_and_changes_texts_alone(
    portal: Portal, verify: Verify, admin: Account, row: Operation, effort: str
) -> None:
    token = None if row.is_prelogin else admin.token

    def ask(language: str | None) -> Exchange:
        return answered(read(portal, row, token=token, headers={"Accept-Language": language}))

    before = ask(None)
    for languages in visits_of(row, effort):
        served = {}
        for language in languages:
            between = ask(language)
            if not between.success:
                granted(before)
            message = f"the request in {language} was refused"
            if verify("HEADER-004", is_success(between, before, message=message)):
                served[language] = between
        if before.success and served:
            after = ask(None)
            for language, between in served.items():
                verify_texts_alone(verify, language, (before, between, after), ask)
            is_answered_as_before(portal, verify, (before, between, after), lambda: ask("en"))


def verify_texts_alone(
    verify: Verify, language: str, answers: Answers, ask: Callable[[str | None], Exchange]
) -> None:
    """The answer in between, in a language, differs from both others in nothing but texts."""
    before, between, after = answers
    message = f"in {language} it differs"
    for place, expected in (("status", before.status), ("code", before.at("code"))):
        verify("HEADER-007", equal(between, place, expected, before, message=message))
    if changed := others_than_texts(before, between, after):
        changed &= others_than_texts(ask(None), ask(language), after)
    if changed:
        at = min(changed)
        was, shown = (values_of(answer).get(at, ABSENT) for answer in (before, between))
        message += " from the answer before without a language"
        verify("HEADER-007", holds(between, at, False, was, before, actual=shown, message=message))


def others_than_texts(before: Exchange, between: Exchange, after: Exchange) -> set[str]:
    """The places, none of a text for people, at which the answer in between differs from both others."""
    first, other, last = map(values_of, (before, between, after))
    return {
        at
        for at, value in first.items()
        if value == last.get(at, ABSENT) != other.get(at, ABSENT)
        and not belongs_to_a_language(at, value, other.get(at, ABSENT))
    }


REPEATED = 3
"""Readings that must show a value as before: servers that differ may answer in turn."""


def is_answered_as_before(
    portal: Portal, verify: Verify, answers: Answers, ask_again: Callable[[], Exchange]
) -> None:
    """The last of three answers shows nothing that only the one in between was to show. What shows as before
    when it is asked again was not changed meanwhile."""
    before, between, after = map(values_of, answers)
    stayed = [at for at in sorted(before) if before[at] != after.get(at, ABSENT) == between.get(at, ABSENT)]
    later = [values_of(ask_again()) for _ in range(REPEATED)] if stayed else []
    proven = next((at for at in stayed if all(each.get(at, ABSENT) == before[at] for each in later)), None)
    if proven is not None:
        message = f"{proven} is shown as to the request before, which asked for it otherwise"
        values = before[proven], after.get(proven, ABSENT)
        verify("AGREE-011", contradicts(answers[2], "data", *values, message, *answers[:2]))
    elif not stayed:  # else it moves by itself
        verify("AGREE-011", equal(answers[2], "code", answers[0].at("code"), answers[0]))


@mark.requirement("AGREE-011")
@mark.needs("another_account")
@pytest.mark.parametrize("key", [*OWN, *SHARED])
def test_another_accounts_reading_does_not_show_in_the_next(
    portal: Portal, verify: Verify, admin: Account, key: str
) -> None:
    row, other = BY_KEY[key], an_account(portal, *BESIDE_ADMIN)
    before = granted(read(portal, row, token=admin.token))
    between, after = read(portal, row, token=other.token), granted(read(portal, row, token=admin.token))
    if not between.success:
        raise Untestable("the other account may not read this", "environment")

    def later() -> Exchange:
        portal.clock.wait(WRITTEN, "an answer that is kept for a while")
        return granted(read(portal, row, token=admin.token))

    is_answered_as_before(portal, verify, (before, between, after), later)


@mark.requirement("AGREE-011")
@mark.needs("another_account")
@mark.sign_ins(2)
def test_another_accounts_sign_in_does_not_show_in_the_next_reading(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """Both accounts sign in anew, as a portal may answer everybody as the account that signed in last."""
    token = admin.fresh_sign_in().token

    def ask(key: str) -> Exchange:
        return answered(read(portal, BY_KEY[key], token=token))

    def ask_again(key: str) -> Exchange:
        admin.fresh_sign_in()
        return granted(ask(key))

    first = {key: answer for key in OWN if (answer := ask(key)).success}
    other = an_account(portal, *BESIDE_ADMIN).fresh_sign_in().token
    for key, before in first.items():
        between, after = read(portal, BY_KEY[key], token=other), ask(key)
        if between.success and after.success:
            is_answered_as_before(portal, verify, (before, between, after), partial(ask_again, key))


FILTERED = (op.ACCOUNTS_QUERY, op.CHANNEL_TYPES_QUERY, op.CHANNELS_QUERY)


@mark.requirement("AGREE-011")
@pytest.mark.parametrize("key", FILTERED)
def test_a_filter_does_not_show_in_the_next_query(
    portal: Portal, verify: Verify, admin: Account, key: str
) -> None:
    """The filter is left out before and afterwards, and null at last."""
    is_by_name = key == op.ACCOUNTS_QUERY
    nobody = {"name": portal.unique()} if is_by_name else {"bizId": unknown_id(portal.record("channel"))}
    others = {name: value for name, value in body_of(BY_KEY[key]).items() if name not in nobody}

    def ask(**filters: Json) -> Exchange:
        return granted(portal.call(key, json={**others, **filters}, token=admin.token))

    answers = (ask(), ask(**nobody), ask())
    is_answered_as_before(portal, verify, answers, lambda: ask(**dict.fromkeys(nobody)))
