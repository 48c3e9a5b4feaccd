"""Values that a profile update may be given: what the profile shows, and others of the same kind."""

from __future__ import annotations

from cases.premises import granted, listed
from conformance.cases import LANGUAGES, Account, Exchange, Json, Portal, Untestable, op

FIELDS = ("accountPhone", "defaultLanguage", "defaultTimezone", "defaultCountry")


def is_shown_whole(value: Json) -> bool:
    """Whether a text has no letter put out of sight."""
    return isinstance(value, str) and not set(value) & OUT_OF_SIGHT


OUT_OF_SIGHT = frozenset("*•●")


def updatable(profile: Exchange) -> dict[str, Json]:
    """The fields of an update as they stand: what puts a profile back. Raises Untestable without a name.

    What is shown in part only is left out: sent back, it would take the place of the whole.
    """
    shown = {name: profile.at(f"data.{name}") for name in ("accountName", *FIELDS)}
    fields = {name: value for name, value in shown.items() if value and is_shown_whole(value)}
    if "accountName" not in fields:
        raise Untestable("the profile shows no name that could be restored", "target")
    return fields


def other_value(portal: Portal, caller: Account, field: str, current: str) -> str:
    """Another value for a field, of the form that the present one has. Raises Untestable."""
    if field == "accountPhone":
        return current[:-1] + ("1" if current[-1] != "1" else "2")
    if field == "defaultLanguage":
        return next(language for language in LANGUAGES if language != current)
    key, names = (
        (op.TIMEZONES, ("code", "zoneIdCode"))
        if field == "defaultTimezone"
        else (op.COUNTRIES, ("alpha2Code",))
    )
    entries = listed(granted(portal.call(key, token=caller.token)))
    for name in names:
        values = [str(entry[name]) for entry in entries if isinstance(entry.get(name), str)]
        if current in values and len(set(values)) > 1:
            return next(value for value in values if value != current)
    raise Untestable(f"{key} lists nothing to take in place of {field} {current!r}", "target")
