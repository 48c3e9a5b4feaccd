"""Lawful portals: each takes another reading where the specification leaves room, and says which."""

from reference_impl.variants import (
    accounts,
    envelope,
    errors,
    gateways,
    listings,
    notifications,
    passwords,
    rates,
    secure_channel,
    security,
    sign_in,
    surroundings,
    tokens,
    transport,
)
from reference_impl.variants.variant import Variant, drawn, grouped

__all__ = ["VARIANTS", "Variant", "drawn", "grouped"]

_CHAPTERS = (
    transport,
    envelope,
    errors,
    sign_in,
    rates,
    passwords,
    tokens,
    secure_channel,
    security,
    accounts,
    listings,
    notifications,
    surroundings,
    gateways,
)
VARIANTS = {variant.name: variant for chapter in _CHAPTERS for variant in chapter.VARIANTS}
"""By name, in the specification's order."""
