"""Names beside ids: what an invitation calls its workspace and its accounts, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.checks.records import folded, records
from conformance.checks.registry import Memory, check, key_of, successes
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison

OF_ACCOUNTS, OF_WORKSPACES = ("accountName", "accountEmail"), ("workspaceName",)

NAMES: Mapping[str, tuple[str, ...]] = {
    op.PROFILE: OF_ACCOUNTS,
    op.ACCOUNT: OF_ACCOUNTS,
    op.ACCOUNTS_QUERY: OF_ACCOUNTS,
    op.WORKSPACES_CURRENT: OF_WORKSPACES,
    op.WORKSPACES_MINE: OF_WORKSPACES,
}
"""Where records are shown by which names."""

REFERENCES = (
    ("workspaceBizId", "workspaceName", "workspaceName"),
    ("inviterBizId", "inviterName", "accountName"),
    ("inviteeAccountBizId", "inviteeAccountName", "accountName"),
    ("inviteeAccountBizId", "inviteeEmail", "accountEmail"),
)
"""Of an invitation: a field with an id, a field with a name, and what that name is at the record itself."""

Names = tuple[tuple[str, str, str], ...]
"""Of each record its id, the field of a name, and the name."""

MOST_NAMES = 8
"""How many names of an id, and ids of a name, are remembered: more say nothing."""


@called
@fact
def names_shown(exchange: Exchange) -> Names:
    """Names shown in an answer; cached object for repeated answers."""
    fields = NAMES[key_of(exchange)]
    return tuple(
        (record["bizId"], field, folded(name).strip())
        for _, record in records(exchange)
        if isinstance(record.get("bizId"), str)
        for field in fields
        if isinstance(name := record.get(field), str) and name.strip()
    )


@check("AGREE-010", on=successes(*NAMES, op.INVITATIONS, op.OWN_INVITATIONS), remembers=True)
def what_is_named_has_the_name(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """A name may date from the invitation: it contradicts only as another record's name that this record
    never had."""
    host = exchange.request.parts.netloc
    if key_of(exchange) in NAMES:
        _remember(memory, host, f"{host} last {exchange.request.path}", names_shown(exchange))
        return
    for path, record in records(exchange):
        for id_field, field, kind in REFERENCES:
            id, name = record.get(id_field), record.get(field)
            if isinstance(id, str) and isinstance(name, str):
                yield from _compared(exchange, memory, f"{path}.{field}", (host, kind), (id, name))


def _remember(memory: Memory, host: str, last: str, shown: Names) -> None:
    if memory.get(last) is shown:
        return
    memory[last] = shown
    for id, field, name in shown:
        for key, value in ((f"{host} {field} of {id}", name), (f"{host} {field} {name}", id)):
            before: tuple[str, ...] = memory.get(key, ())
            if value not in before:
                memory[key] = (*before[-MOST_NAMES:], value)


def _compared(
    exchange: Exchange, memory: Memory, path: str, kind: tuple[str, str], shown: tuple[Json, str]
) -> Iterator[Comparison]:
    host, field = kind
    id, name = shown
    own: tuple[str, ...] = memory.get(f"{host} {field} of {id}", ())
    others: tuple[str, ...] = memory.get(f"{host} {field} {folded(name).strip()}", ())
    if not own or len(own) > MOST_NAMES or len(others) > MOST_NAMES:
        return
    if folded(name).strip() in own:
        yield HELD
    elif others and id not in others:
        message = f"this is the {field} of {others[-1]}, but the id of the same record is {id}"
        yield contradicts(exchange, path, own[-1], name, message)
