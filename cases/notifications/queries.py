"""The queries of channels and their types as the cases ask them, and what they take from the answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cases.coded import ONLY_MATCHES, Answers, asked_in_both_forms, passed_over, state_of
from cases.nobody import unknown_id
from cases.premises import authorized, count, granted, is_invalid, listed
from conformance.cases import HELD, Account, Comparison, Exchange, Json, Portal, Untestable, Verify, holds
from conformance.spec.requests import UNFILTERED

ITEMS = "data.items"
NOT_FOUND = "RESOURCE.NOT_FOUND"


def asked(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    """The query's answer, whatever it is: every filter null but those given."""
    return authorized(portal.call(key, json={**UNFILTERED[key], **fields}, token=caller.token))


def matching(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    return granted(asked(portal, caller, key, **fields))


def items(exchange: Exchange) -> list[dict[str, Json]]:
    return listed(exchange, ITEMS)


def ids(exchange: Exchange) -> set[Json]:
    return {record["bizId"] for record in items(exchange) if isinstance(record.get("bizId"), str)}


def total(exchange: Exchange) -> int:
    """How many there are on all pages; at least those on this one. Raises Untestable."""
    return max(count(exchange, "data.pagination.totalRecords"), len(items(exchange)))


def any_record(exchange: Exchange, *fields: str) -> dict[str, Json]:
    """A listed record with these fields as text. Raises Untestable where there is none."""
    for record in items(exchange):
        if all(isinstance(record.get(field), str) and record[field] for field in fields):
            return record
    raise Untestable("the target lists none to compare with", "environment")


def record_of(portal: Portal, caller: Account, key: str, id: str) -> tuple[Exchange, dict[str, Json] | None]:
    """The listing of one id, and the record in it; without null filters where those find nothing.

    Raises Untestable where listed records show no id.
    """
    listing = matching(portal, caller, key, bizId=id)
    if not items(listing):
        bare = authorized(portal.call(key, json={"bizId": id}, token=caller.token))
        listing = bare if bare.success and items(bare) else listing
    if len(ids(listing)) < len(items(listing)):
        raise Untestable("the listing does not show an id of each record", "target")
    return listing, next((record for record in items(listing) if record.get("bizId") == id), None)


# Filters by state, in the two forms that a code has.


def finds_only(answer: Exchange, field: str, code: str) -> bool:
    """Whether something is listed, and nothing in another state."""
    records = items(answer) if answer.success else []
    return bool(records) and all(state_of(record, field) == code for record in records)


def asked_by_state(
    portal: Portal, caller: Account, key: str, field: str, states: Mapping[str, int]
) -> Answers:
    """The answers to the filter for each state, in both forms; between two without a filter, which show
    whether it leaves anything out."""
    matching(portal, caller, key)
    answers = asked_in_both_forms(lambda wanted: asked(portal, caller, key, **{field: wanted}), states)
    matching(portal, caller, key)
    return answers


def verify_followed(
    verify: Verify, rule: str, field: str, answers: Answers, present: Collection[str]
) -> None:
    """A filter that takes one form follows it; that only matches are given is judged on the wire. Raises
    Untestable where a state that occurs is found in no form."""
    wrong = list(passed_over(answers, field, items, ITEMS))
    for comparison in wrong:
        verify(rule, comparison)
    for code in present:
        forms = [by_code[code] for by_code in answers.values() if finds_only(by_code[code], field, code)]
        if not forms and not wrong:
            raise Untestable(f"the filter {field} takes {code} in no form", "target")
    verify.untested(rule, ONLY_MATCHES, "environment")


TRIES = 3
"""How often a count is compared that others may change between the answers that are compared."""


def is_decided(
    verify: Verify, rule: str, finds_it: Comparison, listing: Exchange, everything: Exchange
) -> bool:
    """Whether what a filter finds decides it: where all that there is matches, one that is passed over finds
    the same."""
    decides = finds_it is not HELD or total(listing) < total(everything)
    if decides:
        verify(rule, finds_it)
    return decides


def verify_none_found(verify: Verify, rule: str, nothing: Exchange) -> None:
    """A filter that found a record is read if it finds nothing where none matches, or refuses that. What is
    given all the same is judged on the wire."""
    if is_invalid(nothing) or nothing.code == NOT_FOUND or (nothing.success and not total(nothing)):
        verify(rule, HELD)
    verify.untested(rule, ONLY_MATCHES, "environment")


def matches_none(portal: Portal, field: str, value: str) -> str:
    """What a filter is asked for that no record has: an id of the form of a known one, or a code."""
    return unknown_id(value) if field.lower().endswith("bizid") else portal.unique()


def leaves_nothing_out(
    portal: Portal, caller: Account, key: str, field: str, states: dict[str, int]
) -> Comparison:
    """With filters that are null there are at least as many as without them, and as the states have together.

    That is asked before and after, and again where it does not hold: others may add and take away meanwhile.
    """
    for _ in range(TRIES):
        compared = _compared(portal, caller, key, field, states)
        if compared is HELD:
            break
    return compared


def _compared(portal: Portal, caller: Account, key: str, field: str, states: dict[str, int]) -> Comparison:
    before = matching(portal, caller, key)
    bare = authorized(portal.call(key, json={}, token=caller.token))
    least = total(bare) if bare.success else 0
    parts: list[Exchange] = []
    answers = asked_in_both_forms(lambda wanted: asked(portal, caller, key, **{field: wanted}), states)
    for code in states:
        parts += [by_code[code] for by_code in answers.values() if finds_only(by_code[code], field, code)][:1]
    least = max(least, sum(total(part) for part in parts))
    if not least:
        raise Untestable("no other way to ask finds anything to compare with", "environment")
    after = matching(portal, caller, key)
    most = max(total(before), total(after))
    at, expected = "data.pagination.totalRecords", f"at least {least}, as other ways to ask find"
    return holds(after, at, most >= least, expected, before, bare, *parts, actual=most)
