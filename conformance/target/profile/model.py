"""What is known of a target: the profile as a value, and how its file becomes one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, field_validator, model_validator

from conformance.errors import ProfileError
from conformance.spec import REQUIREMENTS
from conformance.spec.operations import BY_KEY
from conformance.target.profile.errors import hint_at, nearest, sentences
from conformance.target.profile.placeholders import names_another
from conformance.target.profile.positions import PlacedError, Positions
from conformance.target.profile.references import References
from conformance.target.profile.tables import (
    ACCOUNTS,
    AccountSettings,
    BotChallenge,
    ClockSettings,
    Expect,
    ExtendSettings,
    FixedInbox,
    HttpInbox,
    ImapInbox,
    Inbox,
    LimitSettings,
    OperationSettings,
    PortalSettings,
    ProfileTable,
    Records,
    SecureChannelSettings,
)
from conformance.traffic.documents import toml_tables, user_text
from conformance.traffic.exchange import Json
from conformance.traffic.redaction.redact import Secrets

SECRET_PLACEHOLDERS = re.compile(r"{(?:password|new_password|otp|code)}")


def _secret_fields(body: Json) -> Iterator[str]:
    if isinstance(body, dict):
        for name, value in body.items():
            if isinstance(value, str) and SECRET_PLACEHOLDERS.search(value) and name != "code":
                yield name
            yield from _secret_fields(value)
    elif isinstance(body, list):
        for item in body:
            yield from _secret_fields(item)


LEFT_OUT: dict[str, Any] = {
    "inboxes": True,
    "extend": True,
    "portal": {"proxy", "verify", "client_cert", "client_key"},
}
"""What a report does not say of a profile: how this machine gets there, and its files."""


def _exchanged(value: Json, others: Mapping[str, str]) -> Json:
    """A JSON value with other texts in place of some."""
    if isinstance(value, dict):
        return {name: _exchanged(inner, others) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exchanged(inner, others) for inner in value]
    return others.get(value, value) if isinstance(value, str) else value


class Profile(ProfileTable):
    """The whole profile. ``source`` names the file in messages and reports."""

    profile: Literal[1] = Field(1, description="The version of the format.")
    portal: PortalSettings
    accounts: dict[str, AccountSettings] = {}
    inboxes: dict[str, Inbox] = {}
    records: Records = Records()
    secure_channel: SecureChannelSettings = SecureChannelSettings()
    bot_challenge: BotChallenge = BotChallenge()
    operations: dict[str, OperationSettings] = {}
    limits: LimitSettings = LimitSettings()
    readings: dict[str, Json] = Field(
        {},
        description="What the target does where the specification is open, by the name of the reading: a run"
        " that finds another one fails.",
    )
    clock: ClockSettings = ClockSettings()
    extend: ExtendSettings = ExtendSettings()
    expect: Expect = Expect()

    _source: str = PrivateAttr("profile")
    _hidden: tuple[str, ...] = PrivateAttr(())

    @property
    def source(self) -> str:
        return self._source

    def redacted(self, registry: Secrets) -> dict[str, Json]:
        """The tables that are set, each secret replaced, and of the inboxes only which there are."""
        tables = self.model_dump(mode="json", exclude_unset=True, exclude=LEFT_OUT)
        hidden = {value: registry.placeholder(value) or f"[{kind}]" for value, kind, _ in self.secrets()}
        inboxes = {name: {"kind": inbox.kind} for name, inbox in self.inboxes.items()}
        clean: dict[str, Json] = registry.redact_json(_exchanged({**tables, "inboxes": inboxes}, hidden))
        return clean

    def secret_names(self) -> tuple[str, ...]:
        """The headers and fields that hold a secret by this profile: those of the bot challenge and the API
        key, and fields of bodies that are filled with a password or a code."""
        bodies = (settings.body for settings in self.operations.values())
        headers = (self.bot_challenge.header, self.portal.api_key_header)
        return (*headers, *dict.fromkeys(chain.from_iterable(map(_secret_fields, bodies))))

    def read_from(self, source: str, hidden: Iterable[str]) -> Self:
        """This profile, which remembers the name of its file and the values that ``${…}`` stands for."""
        self._source = source
        self._hidden = tuple(dict.fromkeys(value for value in hidden if len(value) >= 6))
        return self

    def at(self, url: str, *, is_insecure: bool = False) -> Self:
        """This profile at another address of a portal; ``is_insecure`` leaves its certificate unchecked."""
        settings = {"url": url} | ({"verify": False} if is_insecure else {})
        return self.model_copy(update={"portal": self.portal.model_copy(update=settings)})

    def describing(self, files: Iterable[Path]) -> Self:
        """This profile with further descriptions."""
        names = [*self.extend.descriptions, *(str(path.absolute()) for path in files)]
        return self.model_copy(update={"extend": self.extend.model_copy(update={"descriptions": names})})

    @field_validator("operations")
    @classmethod
    def _knows_its_operations(cls, operations: dict[str, OperationSettings]) -> dict[str, OperationSettings]:
        for key in operations:
            if key not in BY_KEY:
                raise PlacedError(f'has no endpoint "{key}".{hint_at(key, BY_KEY)}', (key,))
        return operations

    @model_validator(mode="after")
    def _changes_what_the_run_made(self) -> Profile:
        """A body that names another record than the one that a case made would change a record of the
        deployment's own."""
        bodies = {key: settings.body for key, settings in self.operations.items()}
        wrong = {key: reason for key, body in bodies.items() if (reason := names_another(key, body, bodies))}
        for key, reason in wrong.items():
            others = ", ".join(f'[operations."{other}"]' for other in wrong if other != key)
            end = f" The same goes for {others}." if others else ""
            raise PlacedError(
                f'[operations."{key}"] body {reason}. Write {{result_id}} where the id of the record '
                f"goes: it stands for the one that the run made.{end}",
                ("operations", key, "body"),
            )
        return self

    @field_validator("readings")
    @classmethod
    def _knows_its_readings(cls, readings: dict[str, Json]) -> dict[str, Json]:
        """As soon as they are read, so that a mistake is named beside those of other tables."""
        there_are = {row.reading for row in REQUIREMENTS.values() if row.reading}
        for key in readings:
            if key not in there_are:
                raise PlacedError(f'has no reading "{key}".{hint_at(key, there_are)}', (key,))
        return readings

    @model_validator(mode="after")
    def _names_what_exists(self) -> Profile:
        for name, account in self.accounts.items():
            suggestion = nearest(name, ACCOUNTS, cutoff=0.75)
            if name not in ACCOUNTS and suggestion and suggestion not in self.accounts:
                raise PlacedError(
                    f'[accounts] has no account "{name}". Did you mean "{suggestion}"?', ("accounts", name)
                )
            if account.inbox is not None and account.inbox not in self.inboxes:
                end = hint_at(account.inbox, self.inboxes, f" Add the table [inboxes.{account.inbox}].")
                raise PlacedError(
                    f'[accounts.{name}] inbox is "{account.inbox}", but the profile has no such inbox.{end}',
                    ("accounts", name, "inbox"),
                )
        return self

    @model_validator(mode="after")
    def _expects_its_accounts(self) -> Profile:
        for name in self.expect.accounts:
            if name not in self.accounts:
                end = hint_at(name, self.accounts, f" Add the table [accounts.{name}].")
                raise PlacedError(
                    f'[expect] accounts names "{name}", and there is no such account.{end}',
                    ("expect", "accounts"),
                )
        return self

    def secrets(self) -> Iterator[tuple[str, str, str]]:
        """Every secret in the profile, as (value, kind, place)."""
        yield from self.portal.secrets()
        for name, account in self.accounts.items():
            yield account.password, "password", f"accounts.{name}.password of the profile"
            if account.otp_secret:
                yield account.otp_secret, "otp-secret", f"accounts.{name}.otp_secret of the profile"
        for name, inbox in self.inboxes.items():
            place = f"inboxes.{name} of the profile"
            if isinstance(inbox, ImapInbox):
                yield inbox.password, "password", place
            elif isinstance(inbox, FixedInbox):
                yield inbox.code, "code", place
            elif isinstance(inbox, HttpInbox):
                yield from ((value, "inbox-header", place) for value in inbox.headers.values())
        if self.bot_challenge.token:
            yield self.bot_challenge.token, "bot-token", "bot_challenge.token of the profile"
        yield from ((value, "profile-value", "") for value in self._hidden)

    def record_ids(self) -> Iterator[str]:
        """The ids under ``[records]``, which are no secrets."""
        yield from self.records.model_dump(exclude_none=True).values()


def load(path: Path, environ: Mapping[str, str] = os.environ, *, target: str | None = None) -> Profile:
    """Reads a profile; ``target`` takes the place of its ``portal.url``. Raises ProfileError, a line per
    mistake."""
    return parse(text_of(path), environ, target=target, name=str(path), folder=path.parent)


def text_of(path: Path) -> str:
    """The text of a profile. Raises ProfileError."""
    return user_text(
        path, error=ProfileError, missing="`portal-conformance setup --print` prints one to fill in."
    )


def parse(
    text: str,
    environ: Mapping[str, str] = os.environ,
    *,
    target: str | None = None,
    name: str = "profile",
    folder: Path = Path(),
) -> Profile:
    """A profile from its text. Files it names are looked for from ``folder``. Raises ProfileError."""
    if target is not None:
        of_target(target, environ)  # a mistake in it is none of the text
    references = References(Positions(name, text), environ, folder)
    tables = tables_of(text, references, name=name, target=target)
    profile = _validated(tables, name, references.hidden, references.positions)
    if not profile.accounts:
        raise ProfileError(f"{name}: {NO_ACCOUNT}")
    return profile.model_copy(update={"extend": profile.extend.within(folder)})


NO_ACCOUNT = "there is no account. Add the table [accounts.admin] with email and password."


def tables_of(text: str, references: References, *, name: str, target: str | None = None) -> dict[str, Any]:
    """The tables of a profile, with the values that its references stand for. Raises ProfileError."""
    tables = toml_tables(text, name, error=ProfileError)
    if tables.get("profile", 1) != 1:
        where = references.positions.of(("profile",))
        raise ProfileError(
            f"{where}: profile = {tables['profile']!r} is not supported by this version; write profile = 1."
        )
    if target is not None and isinstance(tables.setdefault("portal", {}), dict):
        tables["portal"]["url"] = target
    tables = {key: references.filled(value, (key,)) for key, value in tables.items()}
    if references.problems:
        raise ProfileError("\n".join(references.problems))
    return tables


class ExtendedProfile(BaseModel):
    """Of a profile the table ``[extend]`` alone."""

    extend: ExtendSettings = ExtendSettings()


def extension_of(path: Path | None) -> ExtendSettings:
    """The table ``[extend]`` of a profile, whose secrets are not read; an empty one without a profile, and of
    a pipe, which can be read only once. ProfileError."""
    if path is None or path.is_fifo():
        return ExtendSettings()
    text = text_of(path)
    try:
        tables = toml_tables(text, str(path), error=ProfileError)
        return ExtendedProfile.model_validate(tables).extend.within(path.parent)
    except ValidationError as problem:
        found = sentences(problem, ExtendedProfile, Positions(str(path), text))
        raise ProfileError("\n".join(found)) from None


NO_PROFILE = "--target"
"""The source of a profile that is no file: of a target, only its address was named."""


def of_target(url: str, environ: Mapping[str, str] = os.environ) -> Profile:
    """What is known of a target without a profile: its address, and PORTAL_ACCESS_CODE where it is set."""
    portal = {"url": url, "access_code": environ.get("PORTAL_ACCESS_CODE", "")}
    return _validated({"portal": portal}, NO_PROFILE, [], Positions(NO_PROFILE, ""))


def _validated(tables: dict[str, Any], name: str, hidden: list[str], positions: Positions) -> Profile:
    try:
        profile = Profile.model_validate(tables)
    except ValidationError as problem:
        raise ProfileError("\n".join(sentences(problem, Profile, positions))) from None
    return profile.read_from(name, hidden)
