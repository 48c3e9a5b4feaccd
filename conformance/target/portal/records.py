"""Ids of records that exist at the target: given by the profile, or found where a listing allows it."""

from __future__ import annotations

import ipaddress
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from conformance.errors import Untestable
from conformance.spec import endpoints as op
from conformance.target.profile.tables import Records
from conformance.traffic.exchange import Exchange, Json, dig, steps


@dataclass(frozen=True)
class RecordSource:
    """A listing, where in its answer the records stand, and which of their fields holds the id."""

    key: str
    items: str = "data"
    field: str = "bizId"


SOURCES: Mapping[str, tuple[RecordSource, ...]] = {
    "workspace": (
        RecordSource(op.WORKSPACES_CURRENT),
        RecordSource(op.WORKSPACES_MINE),
        RecordSource(op.ROLES, field="workspaceBizId"),
    ),
    "other_workspace": (RecordSource(op.WORKSPACES_MINE), RecordSource(op.ROLES, field="workspaceBizId")),
    "institution": (
        RecordSource(op.PROFILE, field="institutionBizId"),
        RecordSource(op.WORKSPACES_CURRENT, field="institutionBizId"),
    ),
    "role": (RecordSource(op.ROLES),),
    "account": (RecordSource(op.PROFILE), RecordSource(op.ACCOUNTS_QUERY, "data.accounts")),
    "channel": (RecordSource(op.CHANNELS_QUERY, "data.items"),),
    "channel_type": (RecordSource(op.CHANNEL_TYPES_QUERY, "data.items"),),
}


def address(text: Json) -> str | None:
    """An address, or a network, in its usual form; None where a value is none."""
    if not isinstance(text, str):
        return None
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return None
    return str(network.network_address if network.num_addresses == 1 else network)


def addresses_in(entries: Json) -> list[str]:
    """The addresses of the entries of an IP whitelist, whatever their form (it is not shown)."""
    values = [
        value
        for entry in (entries if isinstance(entries, list) else [])
        for value in (entry.values() if isinstance(entry, dict) else [entry])
    ]
    return [plain for value in values if (plain := address(value)) is not None]


class Lookup:
    """Finds each kind of record once, also that it cannot be found. ``read`` asks for a whole listing."""

    def __init__(self, records: Records, read: Callable[[str], Exchange]) -> None:
        self._records = records
        self._read = read
        self._lock = threading.RLock()
        self._found: dict[str, str | Untestable] = {}

    def own_id_of(self, name: str) -> str:
        """The id of a record that the profile names. Raises Untestable where it names none."""
        own: str | None = getattr(self._records, name)
        if own is None:
            raise Untestable(
                f"the profile has no [records] {name}, and a run changes only records that the profile names"
            )
        return own

    def id_of(self, name: str) -> str:
        """The id of a record: the profile's, else one that a listing shows. Raises Untestable."""
        own: str | None = getattr(self._records, name)
        if own is not None:
            return own
        with self._lock:
            if name not in self._found:
                self._found[name] = self._look_up(name)
            result = self._found[name]
        if isinstance(result, Untestable):
            raise Untestable(result.reason, result.fault_class)
        return result

    def _look_up(self, name: str) -> str | Untestable:
        if name not in SOURCES:
            return Untestable(f"the profile has no [records] {name}, and no listing gives one")
        others = {self.id_of("workspace")} if name == "other_workspace" else set()
        try:
            for source in SOURCES[name]:
                for id in self._ids(source):
                    if id not in others:
                        return id
        except Untestable as reason:
            return reason
        return Untestable(f"the profile has no [records] {name}, and the listings show none")

    def _ids(self, source: RecordSource) -> Iterator[str]:
        answer = self._read(source.key)
        if answer.success:
            for record in records_in(dig(answer.envelope, steps(source.items))):
                id = record.get(source.field)
                if isinstance(id, str) and id:
                    yield id


OF_OTHERS = re.compile(r"(?i)(inviter|invitee|workspace|institution|account|created|updated|trace|request)")
"""How fields begin that hold ids of other records than the one that they stand in."""

NAMED_AS_ID = re.compile(r"(?i)(id|ref|key|uuid)$")
RANKS = (re.compile(r"^bizId$"), re.compile(r"(?i)^(id|ref|key|uuid)$"), NAMED_AS_ID, re.compile(""))
"""How a field is named that holds the record's own id, the surest first."""

MOMENT = re.compile(r"\d{4}-?\d\d-?\d\dT")


def own_ids(value: Json) -> list[str]:
    """The texts that may be the id of the record that an answer or a listing shows, the likeliest first: the
    fields of many a record are not shown."""
    ids = dict(_ids_with_rank({"": value} if isinstance(value, str) else value))
    named = {id for id, rank in ids.items() if rank == 0}
    return sorted(named or ids, key=lambda id: ids[id])


def shows(record: Mapping[str, Json], name: str | None) -> bool:
    return name is not None and any(isinstance(value, str) and name in value for value in record.values())


def own_id(value: Json, *, name: str | None = None) -> str | None:
    """The likeliest id of the record itself. None if two are equally likely: one may name another record,
    which must stay."""
    ids = dict(_ids_with_rank({"": value} if isinstance(value, str) else value))
    ranks = {id: rank for id, rank in ids.items() if name is None or name not in id}
    likeliest = [id for id, rank in ranks.items() if rank == min(ranks.values())]
    return likeliest[0] if len(likeliest) == 1 else None


def _ids_with_rank(value: Json) -> Iterator[tuple[str, int]]:
    for field, inner in value.items() if isinstance(value, dict) else ():
        if OF_OTHERS.match(field):
            continue
        if isinstance(inner, dict):
            yield from ((id, rank + len(RANKS)) for id, rank in _ids_with_rank(inner))
        elif isinstance(inner, str) and _may_be_id(field, inner):
            yield inner, next(rank for rank, form in enumerate(RANKS) if form.search(field))


def _may_be_id(field: str, text: str) -> bool:
    if not 0 < len(text) <= 128 or "@" in text or MOMENT.match(text) or any(c.isspace() for c in text):
        return False
    return bool(NAMED_AS_ID.search(field)) or any(character.isdigit() for character in text)


def records_in(value: Json) -> Iterator[dict[str, Json]]:
    """A record, the records of an array, or those of the first array in an object (N4 shows no form)."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
    elif isinstance(value, dict):
        inner = next((part for part in value.values() if isinstance(part, list)), None)
        yield from (value,) if "bizId" in value or inner is None else records_in(inner)
