"""Where a requirement stands in the specification: its chapter, its section, and the row of the table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.spec.operations import BY_KEY
from conformance.spec.requirements import Requirement

PINNED_SECTION = "Readings pinned by the profile"
OWN_SECTION = "Rules of your own"
MOVES = "Moves that are stated"

PARTS = (
    ("Resources and their fields", ()),
    ("States and transitions", ("States by resource", MOVES)),
    ("Endpoints", ("Common request headers", "Endpoints", "Authentication endpoints", "Secure channel",
                   "Security endpoints", "Profile and workspaces", "Admin accounts", "Constants",
                   "Currency grants, institutions, invitations", "Notifications", "Roles", "Files",
                   "Transfer orders (admin)")),
    ("Authentication", ("Authentication",)),
    ("Events", ("Events",)),
    ("Errors", ("Errors",)),
    ("Limits", ("Limits",)),
    ("Versioning", ("Versioning",)),
    ("This deployment", (PINNED_SECTION, OWN_SECTION)),
)  # fmt: skip
"""The specification's chapters with the sections that stand in each; every other section is a resource's."""

NAMED = re.compile(r"`([^`]+)`")
"""A name in a statement, as the specification writes it: a field, a header, a code."""

TRIGGER = re.compile(r" /web/v1/system/(auth/)?")
"""The part of an endpoint that the table of moves leaves out."""

MOST_NAMES = 3
"""Endpoints and names of a place; more would lead nowhere."""


def chapter_of(section: str) -> str:
    return next((chapter for chapter, sections in PARTS if section in sections), PARTS[0][0])


def place_of(requirement: Requirement) -> str:
    """``Limits › Login initiate rate``: headings of the specification, and the names that its row has."""
    row = requirement.row or ", ".join([*dict.fromkeys(_names(requirement))][:MOST_NAMES])
    headings = dict.fromkeys((chapter_of(requirement.section), requirement.section, row))
    return " › ".join(filter(None, headings))


def _names(requirement: Requirement) -> Iterator[str]:
    """The endpoints of a section that has a row for each, as it writes them, and what the statement names."""
    section, keys = requirement.section, requirement.operations
    if len(keys) < MOST_NAMES and section == MOVES:
        yield from (TRIGGER.sub(" ", key) for key in keys)
    elif len(keys) < MOST_NAMES:
        yield from (key for key in keys if section.startswith(BY_KEY[key].group))
    yield from NAMED.findall(requirement.statement)
