"""Placeholders in request bodies: meaning of each, and use as a reference to the changed record."""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.spec import endpoints as op
from conformance.traffic.exchange import Json
from conformance.traffic.values import placed_texts

PLACEHOLDERS: Mapping[str, tuple[str, str]] = {
    "unique": (
        "A name that nobody has used; it begins with the run's id, such as `suite-1a2b3c-4`.",
        "Any body.",
    ),
    "email": ("The email address of the account that the request is about.", "Bodies of passwords."),
    "password": ("The present password of that account.", "Bodies of passwords."),
    "new_password": ("The password that is set.", "Bodies of passwords."),
    "otp": ("A code of the authenticator that is verified.", "Where an authenticator is verified."),
    "code": (
        "The code of a mail; that of the authenticator where one is verified.",
        "Where a forgotten or a first password is set, and where an authenticator is verified.",
    ),
    "session_id": (
        "The session that the run ends, one of its own.",
        "Where a session is terminated, and a secure channel closed.",
    ),
    "account": (
        "The account that a case changes and changes back: that of `[records]`, or one of `[accounts]`.",
        "Where an account is updated, its status set, or its password reset.",
    ),
    "workspace": ("The `workspace` under `[records]`.", "Fields that refer to a workspace."),
    "institution": ("The `institution` under `[records]`.", "Fields that refer to an institution."),
    "role": ("The `role` under `[records]`.", "Fields that refer to a role."),
    "channel": (
        "The `channel` under `[records]`, which is the deployment's own.",
        "Fields that refer to a channel; never the update, delete, activate or deactivate of channels.",
    ),
    "channel_type": (
        "The `channel_type` under `[records]`, which is the deployment's own.",
        "Fields that refer to a type; never the update, delete, enable or disable of types.",
    ),
    "result_id": (
        "The id of the record that the run made.",
        "Needed where channels and types are updated, deleted or switched, and grants revoked.",
    ),
}
"""By name what it stands for, and where it may be used: texts of the reference of the profile."""

PLACEHOLDER = re.compile(r"(?<!{){(\w+)}(?!})")

OF_RECORDS = ("account", "workspace", "institution", "role", "channel", "channel_type")
"""Those that stand for a record of the deployment's own."""

OF_MADE: Mapping[str, str] = {
    op.CHANNEL_UPDATE: "channel",
    op.CHANNEL_DELETE: "channel",
    op.CHANNEL_ACTIVATE: "channel",
    op.CHANNEL_DEACTIVATE: "channel",
    op.CHANNEL_TYPE_UPDATE: "channel_type",
    op.CHANNEL_TYPE_DELETE: "channel_type",
    op.CHANNEL_TYPE_ENABLE: "channel_type",
    op.CHANNEL_TYPE_DISABLE: "channel_type",
    op.CURRENCY_GRANT_REVOKE: "",
}
"""The operations on a record that the run made, and the placeholder of the deployment's own of its kind."""

BY_NAME = frozenset({op.CHANNEL_DELETE, op.CHANNEL_TYPE_DELETE})
"""Those that may name the record by the name that the run gave it."""


def placeholders_in(value: Json) -> set[str]:
    """The names in braces in the texts of an operation's body."""
    return {name for _, text in placed_texts(value) for name in PLACEHOLDER.findall(text)}


def names_another(key: str, body: Json, bodies: Mapping[str, Json]) -> str | None:
    """Explains why an operation's body would change a foreign record or none; None if it names the run's
    record. ``bodies`` are those of the other operations."""
    if key not in OF_MADE or body is None:
        return None
    names, kind = placeholders_in(body), OF_MADE[key]
    if kind in names:
        return f"has {{{kind}}}, so that a run would change the {kind} under [records]"
    if "result_id" in names or (key in BY_NAME and "unique" in names):
        return None
    if key == op.CURRENCY_GRANT_REVOKE and is_pair(body, bodies.get(op.CURRENCY_GRANT)):
        return None
    others = [f"{{{name}}}" for name in OF_RECORDS if name in names]
    if others:
        return (
            f"has {' and '.join(others)} and no {{result_id}}, so that a run would change a record of yours"
        )
    return "has no {result_id}, so that it does not name the record that the run made"


def is_pair(revoking: Json, granting: Json) -> bool:
    """Whether a grant is revoked by the very fields by which it was granted, such as a workspace and a
    currency. A workspace alone would be all of its grants."""
    if not isinstance(revoking, dict) or not isinstance(granting, dict) or len(revoking) < 2:
        return False
    return all(name in granting and granting[name] == value for name, value in revoking.items())


def is_named(body: Json, *, id: str | None = None, name: str | None = None) -> bool:
    """Whether a body that is filled holds the id of a record, as a word of a text, or its name."""
    word = None if id is None else re.compile(rf"(?<![\w-]){re.escape(id)}(?![\w-])")
    return any(
        (word is not None and word.search(text)) or (name is not None and name in text)
        for _, text in placed_texts(body)
    )
