"""The bodies that the specification does not show (N1, N6): the profile's, with their placeholders filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from conformance.errors import Untestable
from conformance.spec.operations import operation
from conformance.target.profile.tables import PLACEHOLDER, placeholders_in
from conformance.traffic.exchange import Json

if TYPE_CHECKING:
    from conformance.target.portal import Portal

RECORDS = ("account", "workspace", "institution", "role", "channel", "channel_type")


def filled(portal: Portal, key: str, placeholders: Mapping[str, Json]) -> Json:
    """The body of ``[operations."KEY"]``. Raises Untestable where there is none, or a value is missing.

    A record is taken from the profile alone where the endpoint changes something: what merely exists at the
    target is not ours to change.
    """
    row = operation(key)
    settings = portal.profile.operations.get(key)
    if settings is None or settings.body is None:
        raise Untestable(f'the profile has no [operations."{key}"] body')
    values = dict(placeholders)
    for name in sorted(placeholders_in(settings.body) - set(values)):
        if name == "unique":
            values[name] = portal.unique()
        elif name in RECORDS:
            values[name] = (portal.record if row.impact == "read-only" else portal.own_record)(name)
        else:
            raise Untestable(f'[operations."{key}"] body has {{{name}}}, and there is no value for it')
    return _replaced(settings.body, values.__getitem__)


def _replaced(value: Json, of: Callable[[str], Json]) -> Json:
    if isinstance(value, dict):
        return {_replaced(name, of): _replaced(inner, of) for name, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, of) for inner in value]
    if not isinstance(value, str):
        return value
    alone = PLACEHOLDER.fullmatch(value)
    if alone:
        return of(alone[1])
    text = PLACEHOLDER.sub(lambda match: str(of(match[1])), value)
    return text.replace("{{", "{").replace("}}", "}")
