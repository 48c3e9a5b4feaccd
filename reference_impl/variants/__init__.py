"""Lawful portals: each takes another reading where the specification leaves room, and says which."""

from reference_impl.changes import together
from reference_impl.variants import (
    bindings,
    codes,
    company,
    credentials,
    effects,
    envelope,
    gateways,
    habits,
    listings,
    manners,
    moments,
    others,
    readings,
    searches,
    sign_in,
    steps,
    values,
    views,
    wire,
)
from reference_impl.variants.variant import Variant, drawn, grouped, may

__all__ = ["VARIANTS", "Variant", "drawn", "grouped"]

_ROWS = (
    *wire.VARIANTS,
    *envelope.VARIANTS,
    *sign_in.VARIANTS,
    *listings.VARIANTS,
    *readings.VARIANTS,
    *company.VARIANTS,
    *moments.VARIANTS,
    *gateways.VARIANTS,
    *searches.VARIANTS,
    *credentials.VARIANTS,
    *values.VARIANTS,
    *habits.VARIANTS,
    *bindings.VARIANTS,
    *steps.VARIANTS,
    *codes.VARIANTS,
    *effects.VARIANTS,
    *others.VARIANTS,
    *manners.VARIANTS,
    *views.VARIANTS,
)
_BY_NAME = {variant.name: variant for variant in _ROWS}

_TERSE_AND_STRANGE = (
    "bare-envelope",
    "credentials-400",
    "label-keys",
    "fields-beyond-the-shown",
)
TERSE_AND_STRANGE = may(
    "terse-and-strange",
    "readings that are each permitted, all at once: bare, 400, keys for labels, unknown fields, 429",
    together(*(_BY_NAME[name].apply for name in _TERSE_AND_STRANGE)),
    "version timestamp credentials-400 labels descriptions extra-fields",
)

VARIANTS = {variant.name: variant for variant in (*_ROWS, TERSE_AND_STRANGE)}
"""By name, in the specification's order."""
