"""What a refused update sent is not shown afterwards.

It counts where the record showed another text before, and no other update may have written it: none that was
accepted with the same text, and none of which it is not known what it sent or what became of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from conformance.checks.envelope import is_mask
from conformance.checks.model.places import Visit, viewer_of, visit_of
from conformance.checks.records import are_alike, records, sent_fields
from conformance.checks.registry import Memory, answers, check
from conformance.spec import endpoints as op
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, OtherPlace, endpoint_of

UPDATES: Mapping[str, tuple[str, str | None]] = {
    op.PROFILE_UPDATE: ("account", None),
    op.ACCOUNT_UPDATE: ("account", "userBizId"),
    op.CHANNEL_UPDATE: ("channel", "bizId"),
    op.CHANNEL_TYPE_UPDATE: ("channel type", "bizId"),
}
"""The kind of record that an update changes, and the field that names it; None: it is the caller's own."""

READS: Mapping[str, str] = {
    op.PROFILE: "account",
    op.ACCOUNT: "account",
    op.ACCOUNTS_QUERY: "account",
    op.CHANNELS_QUERY: "channel",
    op.CHANNEL_TYPES_QUERY: "channel type",
}

OWN = "own"
"""Stands for the id of the caller's own profile."""

SHORTEST, LISTED, TEXTS_KEPT = 4, 100, 500
"""Letters of a text that nobody else writes by chance, records of a listing that are looked at, and texts of
updates that are kept."""

Record = Mapping[str, Json]


class SentTexts(NamedTuple):
    """What updates of a kind may have written."""

    texts: frozenset[str] = frozenset()
    unknown: int = 0
    """How many updates had texts that are not kept."""


class Shown(NamedTuple):
    """A record as it was shown to one viewer, and the texts that refused updates sent since, each with its
    visit."""

    record: Record
    visit: Visit
    unknown: int
    """Of ``SentTexts`` at that time."""
    refused: dict[str, tuple[str, Visit]]


@check("MODEL-014", on=answers(*READS, *UPDATES).at_its_moment(), remembers=True)
def what_was_refused_is_not_shown(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    operation, viewer = exchange.request.operation, viewer_of(exchange)
    if operation is None:
        return
    kind, named_by = UPDATES.get(operation.key) or (READS[operation.key], None)
    all_of_kind = f"{exchange.request.parts.netloc} {kind}"
    written: SentTexts = memory.get(all_of_kind, SentTexts())
    if operation.key in UPDATES:
        sent = sent_fields(exchange)
        if not _is_refusal(exchange):
            memory[all_of_kind] = _with_texts(written, exchange)
        elif viewer is not None:
            id = OWN if named_by is None else sent.get(named_by)
            _note_refused(memory.get(f"{viewer} {kind} {id}"), sent, exchange)
    elif viewer is not None and exchange.success:
        visit = visit_of(exchange)
        for path, record in records(exchange)[:LISTED]:
            id = OWN if operation.key == op.PROFILE else record.get("bizId")
            place = f"{viewer} {kind} {id}"
            before: Shown | None = memory.get(place)
            if before is not None and before.refused and before.unknown == written.unknown:
                yield from _compared(exchange, path, record, before, written)
            memory[place] = Shown(record, visit, written.unknown, {})


def _is_refusal(exchange: Exchange) -> bool:
    """Whether an update was surely refused: one that failed at the server may have been carried out."""
    envelope = exchange.envelope
    is_client_error = exchange.status is not None and 400 <= exchange.status < 500
    return is_client_error and envelope is not None and envelope.get("success") is False


def _with_texts(written: SentTexts, exchange: Exchange) -> SentTexts:
    """What was written, with what an update sent; where it sent too much to be kept, that is not known."""
    texts = written.texts | {text for text in sent_fields(exchange).values() if isinstance(text, str)}
    if exchange.request.is_unknown or exchange.sent is ABSENT or len(texts) > TEXTS_KEPT:
        return SentTexts(frozenset(), written.unknown + 1)
    return SentTexts(texts, written.unknown)


def _note_refused(shown: Shown | None, sent: Mapping[str, Json], exchange: Exchange) -> None:
    """Keeps what a refused update sent for fields of which the record shows another text."""
    if shown is None:
        return
    for name, text in sent.items():
        before = shown.record.get(name)
        if _is_distinct(text) and _is_distinct(before) and not are_alike(text, before):
            shown.refused[name] = text, visit_of(exchange)


def _compared(
    exchange: Exchange, path: str, record: Record, before: Shown, written: SentTexts
) -> Iterator[Comparison]:
    for name, (sent, refused) in before.refused.items():
        if record.get(name) == before.record[name]:
            yield HELD
        elif record.get(name) == sent and sent not in written.texts:
            update = endpoint_of(refused.exchange())
            message = (
                f"the text that was sent by {update} and refused (exchange {refused.n}); no other update was "
                f"observed that sent it, and exchange {before.visit.n} showed what was there before"
            )
            odd = contradicts(exchange, f"{path}.{name}", before.record[name], sent, message)
            other = OtherPlace(before.visit.n, endpoint_of(before.visit.exchange()), "", name)
            yield replace(odd, also=(before.visit.exchange(), refused.exchange()), other=other)


def _is_distinct(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and len(value.strip()) >= SHORTEST and not is_mask(value)
