"""The table of hostile behaviours: each row has a name of its own."""

from __future__ import annotations

from dataclasses import replace

from conformance.tests.hostile import (
    compression,
    elsewhere,
    framing,
    headers,
    json_values,
    texts,
    tls,
    transport,
)
from conformance.tests.hostile.wire import Row

GROUPS = {
    "transport": transport.ROWS,
    "framing": framing.ROWS,
    "headers": headers.ROWS,
    "compression": compression.ROWS,
    "JSON": json_values.ROWS,
    "texts": texts.ROWS,
    "elsewhere": elsewhere.ROWS,
    "TLS": tls.ROWS,
}

ROWS: dict[str, Row] = {row.name: replace(row, group=group) for group, rows in GROUPS.items() for row in rows}
