"""Ids that nobody has, in the form of ids that the target shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from cases.premises import answered, authorized, refusal_text
from conformance.cases import (
    INVALID_PARAMETER,
    RECORD_UNKNOWN,
    UNFILTERED,
    Exchange,
    Json,
    Portal,
    Untestable,
    op,
    records_in,
)

_ALPHABETS = (
    "0123456789", "abcdef", "ABCDEF", "ghjkmnpqrstvwxyz", "GHJKMNPQRSTVWXYZ", "ilou", "ILOU",
)  # fmt: skip
"""Letters are changed within these, so that an id stays hexadecimal, or Crockford's base 32, where it was."""

COUNTED = 16
"""Below this many digits or letters an id may be counted up, so that its neighbours exist."""

RANDOM = 20
"""From this length on an id of letters and digits is taken for a random one."""

FAR = 9
"""Digits of a number that no portal has counted up to; a whole number of 32 bits has room for it."""

_LARGE, _LARGE_OF_32_BITS = "987654321098765", "2109876543"
_COUNTER = re.compile(r"(?P<before>.*?)(?P<digits>[0-9]+)\Z", re.DOTALL)
_LAST_PART = re.compile(r"[0-9A-Za-z]+(?=[^0-9A-Za-z]*\Z)")


def unknown_id(existing: str) -> str:
    """Makes an id in the form of a known id that surely belongs to no record."""
    return unknown_ids(existing)[0]


def unknown_ids(existing: str) -> tuple[str, ...]:
    """Ids of the same form as a known one, the surest first: a portal may refuse one as malformed.

    Of a number that may be counted up, also behind a word, the first is far away. Where that makes it longer,
    the next one is as long: a record may have it. Raises Untestable where no id can be made.
    """
    counter = _COUNTER.match(existing)
    if counter and is_counted(existing):
        made = [counter["before"] + digits for digits in _far_from(counter["digits"])]
    else:
        made = [_changed(existing)]
    usable = tuple(id for id in made if id != existing)
    if not usable:
        raise Untestable("no unknown id of the form of those at the target can be made", "environment")
    return usable


def is_counted(id: str) -> bool:
    """Whether an id is a number that may be counted up, also behind a word. Longer ones whose other parts
    hold digits too are random, such as tokens."""
    counter = _COUNTER.match(id)
    if counter is None or len(counter["digits"]) >= COUNTED or not _is_no_part(counter["before"]):
        return False
    return len(id) < RANDOM or not any(letter.isdigit() for letter in counter["before"])


def _is_no_part(before: str) -> bool:
    """Whether a number stands behind nothing, a separator, or a word that is no hexadecimal number."""
    word = re.split(r"[^0-9A-Za-z]", before)[-1]
    return not word or (word.isalpha() and not set(word) <= HEXADECIMAL)


def _far_from(digits: str) -> Iterator[str]:
    length = len(digits)
    if digits.startswith("0") and length > 1:
        yield _LARGE[:length]  # padded to this length
        return
    if length == len(_LARGE_OF_32_BITS) and int(digits) < 1 << 31:
        yield _LARGE_OF_32_BITS
        return
    yield _LARGE[: max(FAR, length)]
    if 2 < length < FAR:
        yield _LARGE[:length]


def _changed(existing: str) -> str:
    """The last third changed: before it may stand a kind, a version or a time. Where the last part is short
    and begins with zeros it may be counted up, and all of it is changed."""
    part = _LAST_PART.search(existing)
    kept = len(existing) * 2 // 3
    if part and len(part.group()) < COUNTED and part.group().startswith("0"):
        kept = min(kept, part.start())
    return existing[:kept] + "".join(_others(existing[kept:]))


def _others(letters: str) -> Iterator[str]:
    for letter in letters:
        alphabet = next((letters for letters in _ALPHABETS if letter in letters), "")
        yield alphabet[(alphabet.index(letter) + len(alphabet) // 2) % len(alphabet)] if alphabet else letter


Ask = Callable[[str], Exchange]
IsFree = Callable[[str], bool]


def asked_for_nobody(portal: Portal, existing: str, ask: Ask, *, is_free: IsFree | None = None) -> Exchange:
    """The answer to the id of no record: one of the form of ``existing``, or where such ids are refused as
    malformed, as they may hold a check digit, the id of a record of another kind, where it has that form.

    A request that changes something says by ``is_free`` which ids certainly are nobody's, and is sent for no
    other. Raises Untestable where nothing but a malformed id could be asked for.
    """
    free = is_free or (lambda id: True)
    made, refused = unknown_ids(existing), None
    for id in filter(free, made):
        answer = ask(id)
        if answer.status == 400 and answer.code in INVALID_PARAMETER:
            refused = answer
        elif id == made[0] or not answer.success:
            return answer  # a success of a later one may be that of a record
    for id in filter(free, _of_other_kinds(portal, existing)):
        answer = ask(id)
        if not (answer.success and is_counted(id)):
            return answer
    if refused is None:
        raise Untestable("no id of this form is certainly nobody's", "environment")
    raise Untestable(f"an id of this form is refused as such ({refusal_text(refused)})", "environment")


KINDS = ("workspace", "institution", "role", "account")


def _of_other_kinds(portal: Portal, existing: str) -> Iterator[str]:
    for kind in KINDS:
        with suppress(Untestable):
            other = portal.record(kind)
            if other != existing and _form_of(other) == _form_of(existing):
                yield other


def _form_of(id: str) -> tuple[str, str]:
    """What stands before the first separator where it is a word, and how long the parts are."""
    kind = re.match(r"[A-Za-z]+(?=[^0-9A-Za-z])", id)
    return kind.group() if kind and not set(id) <= HEXADECIMAL else "", re.sub(r"[0-9A-Za-z]", "x", id)


HEXADECIMAL = frozenset("0123456789abcdefABCDEF-")

QUERIES: Mapping[str, str] = {"channel": op.CHANNELS_QUERY, "channel_type": op.CHANNEL_TYPES_QUERY}


def reads_nobody(portal: Portal, token: str, kind: str) -> IsFree:
    """Whether an id of an account, a channel or a type is nobody's, as reading it shows. A query that goes on
    and shows other records may have more pages: then only the surest id is."""
    surest = unknown_id(portal.record(kind))

    def is_free(id: str) -> bool:
        if kind == "account":
            refused = authorized(portal.call(op.ACCOUNT, token=token, userBizId=id))
            return not refused.success and (refused.status == 404 or refused.code in RECORD_UNKNOWN)
        key = QUERIES[kind]
        listing = answered(portal.call(key, json={**UNFILTERED[key], "bizId": id}, token=token))
        shown = [record.get("bizId") for record in records_in(listing.at("data.items"))]
        return listing.success and id not in shown and (not shown or id == surest)

    return is_free


def is_surely_free(existing: str, *listed: Json) -> IsFree:
    """Whether an id is nobody's where none can be read: no record listed has it, and it is the surest one, or
    that of a record of another kind, which is not counted up."""
    return lambda id: id not in listed and (id == unknown_id(existing) or not is_counted(id))


def free_id(portal: Portal, token: str, kind: str) -> str:
    """An id of an account, a channel or a type that is read to be nobody's, for a request that would change
    its record. Raises Untestable."""
    is_free = reads_nobody(portal, token, kind)
    for id in unknown_ids(portal.record(kind)):
        if is_free(id):
            return id
    raise Untestable("no id of this form is certainly nobody's", "environment")
