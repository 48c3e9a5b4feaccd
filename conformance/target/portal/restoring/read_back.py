"""Reads back what was restored: what the portal shows then is what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from conformance.errors import NoAnswer, TargetUnreachable, Untestable
from conformance.spec import endpoints as op
from conformance.target.portal import Portal
from conformance.target.portal.changes import TargetChange
from conformance.target.portal.records import addresses_in, records_in
from conformance.target.portal.restoring.ways import SHOWN_AT
from conformance.traffic.exchange import Json, dig

COPY_DELAY_SECONDS = 2.0
"""Seconds after which a portal that answers from a copy shows what was written."""


def shown_otherwise(portal: Portal, restored: Iterable[TargetChange]) -> list[str]:
    """Which of the restored changes, the earliest first, is shown otherwise than before, as sentences: a
    portal may write a value in a form of its own. What stays changed is named as such, and not here."""
    originals: dict[tuple[str, str], dict[str, Json]] = {}  # of each field the earliest value counts
    for change in restored:
        is_left = portal.changes.is_left(change.key, account=change.account)
        if not is_left and change.key in SHOWN_AT and isinstance(change.undo_body, dict):
            fields = originals.setdefault((change.key, change.account), {})
            fields.update({name: value for name, value in change.undo_body.items() if name not in fields})
    otherwise: list[str] = []
    with suppress(NoAnswer, Untestable, TargetUnreachable):
        otherwise = list(_differing(portal, originals))
        if otherwise:
            with portal.clock.restoring():
                portal.clock.wait(COPY_DELAY_SECONDS, "what was restored to be shown")
            otherwise = list(_differing(portal, originals))
    return [portal.secrets.redact(sentence) for sentence in otherwise]


def _differing(portal: Portal, originals: Mapping[tuple[str, str], dict[str, Json]]) -> Iterator[str]:
    for (key, name), fields in originals.items():
        answer = portal.call(SHOWN_AT[key], token=portal.account(name).token)
        shown = answer.data if answer.success and isinstance(answer.data, dict) else {}
        if key == op.IP_WHITELIST_SET:
            shown, fields = _as_addresses(shown.get("entries")), _as_addresses(fields.get("ips"))
        for field, value in fields.items():
            if field in shown and shown[field] != value:
                yield f"{field} of [accounts.{name}]: {value!r} was sent, and is shown as {shown[field]!r}"


def _as_addresses(entries: Json) -> dict[str, Json]:
    """Addresses in sorted order; empty without a list."""
    return {"ips": sorted(set(addresses_in(entries)))} if isinstance(entries, list) else {}


def is_absent(portal: Portal, change: TargetChange) -> bool:
    """Whether an authenticator that was set up is none, as it was never verified: nothing is left of it."""
    if change.key != op.OTP_SETUP:
        return False
    with suppress(NoAnswer, Untestable):
        answer = portal.call(op.MFA, token=portal.account(change.account).token)
        settings = list(records_in(answer.data)) if answer.success and isinstance(answer.data, list) else None
        # Settings that cannot be read count as active.
        return settings is not None and not any(
            dig(setting, ["mfaMethod", "code"]) != "EMAIL" and setting.get("isEnabled") is not False
            for setting in settings
        )
    return False
