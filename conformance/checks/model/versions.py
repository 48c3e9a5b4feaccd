"""The version of answers that are neither the portal's system endpoints' nor the secure session's."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.envelope import PORTAL_KEYS, is_the_portals
from conformance.checks.registry import answers, check, has
from conformance.spec.tables import PORTAL_VERSION, SECURE_SESSION_VERSION
from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import one_of
from conformance.verdicts.findings import Comparison

BESIDE_THE_PORTAL = answers().keys - set(PORTAL_KEYS)
"""The secure channel, and two others outside ``/web/v1/system/``: which version is theirs is not stated."""


@check(
    "MODEL-001",
    on=answers(*BESIDE_THE_PORTAL).enveloped().by_metadata().where(is_the_portals).where(has("version", str)),
)
def version_is_one_of_the_two_shown(exchange: Exchange) -> Iterator[Comparison]:
    yield one_of(exchange, "version", (PORTAL_VERSION, SECURE_SESSION_VERSION))
