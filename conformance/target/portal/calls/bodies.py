"""The bodies that the specification does not show (N1, N6): the profile's, with their placeholders filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.errors import Untestable
from conformance.spec.endpoints import CURRENCY_GRANT, CURRENCY_GRANT_REVOKE
from conformance.spec.operations import operation
from conformance.target.portal.records import Lookup
from conformance.target.portal.restoring.ways import RESULT
from conformance.target.profile.model import Profile
from conformance.target.profile.placeholders import (
    BY_NAME,
    OF_MADE,
    OF_RECORDS,
    PLACEHOLDER,
    is_named,
    is_pair,
    placeholders_in,
)
from conformance.traffic.exchange import Json


class Bodies:
    """The bodies of ``[operations]``. ``unique`` gives a name that nobody has used."""

    def __init__(self, profile: Profile, records: Lookup, unique: Callable[[], str]) -> None:
        self._profile, self._records, self._unique = profile, records, unique

    def filled(self, key: str, placeholders: Mapping[str, Json]) -> Json:
        """The body of ``[operations."KEY"]``. Raises Untestable where there is none, or a value is missing.

        A record is taken from the profile alone where the endpoint changes something: what merely exists at
        the target is not ours to change.
        """
        row, records = operation(key), self._records
        settings = self._profile.operations.get(key)
        if settings is None or settings.body is None:
            raise Untestable(f'the profile has no [operations."{key}"] body')
        values = dict(placeholders)
        for name in sorted(placeholders_in(settings.body) - set(values)):
            if name == "unique":
                values[name] = self._unique()
            elif name in OF_RECORDS:
                values[name] = (records.id_of if row.impact == "read-only" else records.own_id_of)(name)
            else:
                raise Untestable(f'[operations."{key}"] body has {{{name}}}, and there is no value for it')
        body = _with_texts(settings.body, lambda text: _filled(text, values))
        if key in OF_MADE:
            by_name = placeholders.get("unique") if key in BY_NAME else None
            self.check_named(key, body, id=placeholders.get("result_id"), name=by_name)
        return body

    def check_named(self, key: str, body: Json, *, id: str | None, name: str | None) -> None:
        """Raises Untestable where a request for a record that the run made would change another one: its body
        holds neither the id nor the name of it, or names the profile's own record of its kind."""
        kind = OF_MADE.get(key)
        own = getattr(self._profile.records, kind) if kind else None
        if own is not None and own != id and is_named(body, id=own):
            raise Untestable(
                f"the body of {key} names [records] {kind}, which the run did not make: it is not sent"
            )
        if is_named(body, id=id, name=name):
            return
        is_revoking = key == CURRENCY_GRANT_REVOKE and CURRENCY_GRANT in self._profile.operations
        if is_revoking and is_pair(body, self.filled(CURRENCY_GRANT, {})):
            return
        raise Untestable(f"the body of {key} does not name the record that the run made: it is not sent")


def with_result(body: Json, id: str | None) -> Json:
    """The body of a ledger, with the id of the record that was made in its place."""
    return body if id is None else _with_texts(body, lambda text: text.replace(RESULT, id))


def _filled(text: str, values: Mapping[str, Json]) -> Json:
    alone = PLACEHOLDER.fullmatch(text)
    if alone:
        return values[alone[1]]
    text = PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)
    return text.replace("{{", "{").replace("}}", "}")


def _with_texts(value: Json, change: Callable[[str], Json]) -> Json:
    """A value with its texts, and the names in it, changed."""
    if isinstance(value, dict):
        return {change(name): _with_texts(inner, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_texts(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value
