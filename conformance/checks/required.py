"""Required and forbidden request parts (chapters "Endpoints", "Errors").

Tools take secrets, addresses or whole fields out of a recording: a field counts as missing where the length
of the body has no room for it, and a text counts as what was sent where the length of the body agrees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from conformance.checks.envelope import is_mask
from conformance.checks.records import sent_fields
from conformance.checks.registry import Predicate, answers, check
from conformance.spec import endpoints as op
from conformance.spec.requests import LoginInitiate
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_redacted
from conformance.verdicts.comparisons import is_granted, is_invalid_parameter, is_refused, refused_or_silent
from conformance.verdicts.findings import HELD, Comparison

LEAST_LENGTHS: Mapping[str, int] = {"email": len("a@b.c"), "password": 8}
"""The shortest that a value can be; others may be of one letter."""

USUAL_LENGTH = re.compile(r"[0-9]{1,9}")

SIGNS = re.compile(r"[\W_]+")

OF_A_CHALLENGE = re.compile(r"turnstile|captcha|challenge|bot|token", re.IGNORECASE)
"""Which further endpoints take a bot challenge is not shown: a property for one may be known."""


def is_readable(exchange: Exchange) -> bool:
    """Whether the body alone says what is asked, and the record has it: an object sent in the clear, and
    nothing beside it in the address."""
    request = exchange.request
    return type(exchange.sent) is dict and exchange.plain is None and not request.parts.query


def _content_length(exchange: Exchange) -> int | None:
    length = exchange.request.header("content-length")
    return int(length) if length is not None and USUAL_LENGTH.fullmatch(length) else None


def _is_hidden(value: Json) -> bool:
    return isinstance(value, str) and (is_redacted(value) or is_mask(value) or "redacted" in value.lower())


def _alike(name: str) -> str:
    """A name in lower case without punctuation, as lenient portals compare it."""
    return SIGNS.sub("", name).casefold()


def _names_in(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield _alike(name)
            yield from _names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names_in(inner)


def surely_lacks(name: str) -> Predicate:
    """Whether a body was sent without a field, under this name or one like it."""

    def lacks(exchange: Exchange) -> bool:
        if name in sent_fields(exchange) or not is_readable(exchange):
            return False
        if _alike(name) in _names_in(exchange.sent):
            return False
        length = _content_length(exchange)
        return length is not None and length < _least_length(exchange.sent, name)

    return lacks


def _least_length(sent: Mapping[str, Json], name: str) -> int:
    """The least length of the body if it had the field: by the shortest values in place of hidden ones."""
    whole = {**sent, name: "*"}
    shortest = {
        key: "*" * LEAST_LENGTHS.get(key, 1) if key == name or _is_hidden(value) else value
        for key, value in whole.items()
    }
    return _shortest_writing(shortest)


def _shortest_writing(body: Json) -> int:
    """The length of a body without blanks and escapes."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def is_as_sent(exchange: Exchange) -> bool:
    """Whether the record has the body as it was sent: nothing in it is hidden, and its length agrees."""
    sent, length = exchange.sent, _content_length(exchange)
    if not is_readable(exchange) or length is None or any(map(_is_hidden, sent.values())):
        return False
    return _shortest_writing(sent) <= length <= len(json.dumps(sent))


def _required_rule(requirement: str, key: str, name: str, *mistaken: str) -> None:
    """``mistaken``: codes that speak of the value of the field, which was not sent. Another refusal may have
    another cause."""

    @check(requirement, on=answers(key).at_its_moment().where(surely_lacks(name)))
    def what_lacks_a_field_is_refused(exchange: Exchange) -> Iterator[Comparison]:
        refused = is_invalid_parameter(exchange)
        if is_granted(exchange):
            yield is_refused(exchange, message=f"a request without {name} was accepted")
        elif refused is HELD or exchange.code in mistaken:
            yield refused


_required_rule("LOGIN-043", op.LOGIN_INITIATE, "email", "AUTH.INVALID_CREDENTIALS")
_required_rule("LOGIN-044", op.LOGIN_INITIATE, "password", "AUTH.INVALID_CREDENTIALS")
_required_rule("SECURE-010", op.SECURE_SESSION, "keyId")
_required_rule("SECURE-011", op.SECURE_SESSION, "encReqKey")
_required_rule("SECURE-012", op.SECURE_SESSION, "encRespKey")
_required_rule("ACCOUNT-034", op.ACCOUNT_UPDATE, "userBizId", "RESOURCE.NOT_FOUND")
_required_rule("CHANNEL-052", op.CHANNEL_COMMAND_DEACTIVATE, "bizId", "4040", "RESOURCE.NOT_FOUND")
_required_rule("INVITE-004", op.INVITE, "inviteeEmail")

PROPERTIES = frozenset(map(_alike, LoginInitiate.model_fields))


def _unknown_properties(exchange: Exchange) -> list[str]:
    """The properties that initiate does not know, beyond doubt."""
    return [
        name
        for name in sent_fields(exchange)
        if _alike(name) not in PROPERTIES and not OF_A_CHALLENGE.search(name)
    ]


def _has_a_value_of_no_property(exchange: Exchange) -> bool:
    sent = sent_fields(exchange)
    return any(sent[name] is not None for name in _unknown_properties(exchange))


@check("LOGIN-053", on=answers(op.LOGIN_INITIATE).where(_has_a_value_of_no_property))
def initiate_refuses_what_it_does_not_know(exchange: Exchange) -> Iterator[Comparison]:
    """Judged by success only: refusals may concern the credentials."""
    message = f"a request with the unknown property {', '.join(_unknown_properties(exchange))} was accepted"
    yield from refused_or_silent(exchange, message, is_right=is_invalid_parameter(exchange) is HELD)


def _invites_no_address(exchange: Exchange) -> bool:
    """Whether the invited text is no address in anybody's reading: nothing stands on one side of the @."""
    address = sent_fields(exchange).get("inviteeEmail")
    if not isinstance(address, str) or not address.strip():
        return False
    local, at, domain = address.strip().rpartition("@")
    return not (local and at and domain)


@check("INVITE-001", on=answers(op.INVITE).at_its_moment().where(_invites_no_address).where(is_as_sent))
def only_an_address_is_invited(exchange: Exchange) -> Iterator[Comparison]:
    message = "a text that is no email address was invited"
    yield from refused_or_silent(exchange, message, is_right=is_invalid_parameter(exchange) is HELD)
