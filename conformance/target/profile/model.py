"""What is known of a target: the profile's tables as values, and how the file becomes them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from conformance.errors import ProfileError
from conformance.spec import REQUIREMENTS
from conformance.spec.operations import BY_KEY
from conformance.target.profile.errors import nearest, sentences
from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.exchange import Json

Factor = Literal["EMAIL", "OTP"]

ACCOUNTS: Mapping[str, str] = {
    "admin": "signs in for most cases",
    "spare": "its password, sessions and factors may be changed",
    "limited": "active, but without permissions",
    "pending": "awaits approval",
}
"""The accounts that the cases ask for. Others may be named: a replay signs in as whoever was recorded."""

PLACEHOLDERS = (
    "unique",
    "email",
    "password",
    "new_password",
    "otp",
    "code",
    "session_id",
    "account",
    "workspace",
    "institution",
    "role",
    "channel",
    "channel_type",
    "result_id",
)

PLACEHOLDER = re.compile(r"(?<!{){(\w+)}(?!})")


class ProfileTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PortalSettings(ProfileTable):
    """``timeout`` is in seconds, for one request from its first byte to the last of its answer. ``verify``
    may name a file of CA certificates. ``proxy`` is an HTTP proxy; none is taken from the environment."""

    url: str
    access_code: str
    headers: dict[str, str] = {}
    edge_headers: bool = True
    verify: bool | str = True
    timeout: float = Field(10.0, gt=0)
    proxy: str | None = None

    @field_validator("proxy")
    @classmethod
    def _is_a_proxy(cls, proxy: str | None) -> str | None:
        if proxy is not None and not re.match(r"http://[^/\s?#]+/?\Z", proxy):
            raise ValueError('must be the address of an HTTP proxy such as "http://127.0.0.1:3128"')
        return proxy

    def proxy_secrets(self) -> Iterator[tuple[str, str]]:
        """The password in the address of the proxy."""
        password = urlsplit(self.proxy or "").password
        if password:
            yield unquote(password), "password"

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        if not re.match(r"https?://[^/\s@?#]+(/[^\s?#]*)?\Z", url):
            raise ValueError('must be an address such as "http://127.0.0.1:8000"')
        return url.rstrip("/")


class AccountSettings(ProfileTable):
    email: str
    password: str
    mfa: Factor | None = None
    otp_secret: str | None = None
    inbox: str | None = None

    @field_validator("otp_secret")
    @classmethod
    def _is_base32(cls, secret: str | None) -> str | None:
        if secret is None:
            return None
        if not re.fullmatch(r"[A-Z2-7]+=*", plain := re.sub(r"[\s-]", "", secret).upper()):
            raise ValueError("must be base32, the letters A to Z and the digits 2 to 7")
        return plain


def _pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as problem:
        raise ValueError(f"must be a regular expression: {problem}") from None
    return pattern


class Mailbox(ProfileTable):
    """``pattern``: its first match in what arrived (its first group, where it has one) is the code."""

    pattern: str = r"\b(\d{6})\b"
    timeout: float = Field(10.0, gt=0)

    _check_pattern = field_validator("pattern")(_pattern)


class HttpInbox(Mailbox):
    kind: Literal["http"]
    url: str
    headers: dict[str, str] = {}


class ImapInbox(Mailbox):
    kind: Literal["imap"]
    host: str
    port: int = 993
    username: str
    password: str
    folder: str = "INBOX"
    ssl: bool = True


class CommandInbox(Mailbox):
    kind: Literal["command"]
    argv: list[str] = Field(min_length=1)


class FixedInbox(ProfileTable):
    kind: Literal["fixed"]
    code: str


Inbox = Annotated[HttpInbox | ImapInbox | CommandInbox | FixedInbox, Field(discriminator="kind")]


class Records(ProfileTable):
    """Ids that exist at the target."""

    workspace: str | None = None
    institution: str | None = None
    role: str | None = None
    file: str | None = None
    account: str | None = None
    channel: str | None = None
    channel_type: str | None = None
    other_workspace: str | None = None


class SecureChannelSettings(ProfileTable):
    """What the specification leaves open of the secure channel (N2, N6). What was not written may be found
    out."""

    key_id_field: str = "keyId"
    public_key_field: str = "publicKey"
    public_key_format: Literal["spki-base64", "pem", "jwk"] = "spki-base64"
    rsa_padding: Literal["oaep-sha256", "oaep-sha1", "pkcs1v15"] = "oaep-sha256"
    mgf1: Literal["sha256", "sha1"] = "sha256"
    body: Literal["string", "object"] = "string"
    responses: Literal["plain", "encrypted"] = "plain"
    aes_mode: Literal["gcm", "cbc"] = "gcm"
    payload: str = "iv+ciphertext+tag"

    @field_validator("payload")
    @classmethod
    def _is_an_order(cls, payload: str) -> str:
        if sorted(payload.split("+")) not in (["ciphertext", "iv", "tag"], ["ciphertext", "iv"]):
            raise ValueError('must be iv, ciphertext and tag in some order, such as "iv+ciphertext+tag"')
        return payload

    def is_pinned(self, name: str) -> bool:
        """Whether the profile says it: then nothing else is tried."""
        return name in self.model_fields_set


class BotChallenge(ProfileTable):
    token: str | None = None
    header: str = "X-Turnstile-Token"


class OperationSettings(ProfileTable):
    """A body that the specification does not show, and where in the answer what stands.

    ``result_id`` and ``secret`` are paths such as ``data.bizId``.
    """

    body: Json = None
    result_id: str | None = None
    secret: str | None = None

    @field_validator("body")
    @classmethod
    def _knows_its_placeholders(cls, body: Json) -> Json:
        for name in sorted(placeholders_in(body) - set(PLACEHOLDERS)):
            hint = nearest(name, PLACEHOLDERS)
            advice = f"Did you mean {{{hint}}}?" if hint else f"Known are {', '.join(PLACEHOLDERS)}."
            raise ValueError(f"has no placeholder {{{name}}}. {advice} (Write {{{{ for a literal brace.)")
        return body


class LimitSettings(ProfileTable):
    """Budgets of one run; ``login_window`` in seconds, None where it is to be learned; ``max_answer`` in
    bytes."""

    login_window: float | None = Field(None, gt=0)
    max_mails: int = Field(20, ge=0)
    max_failed_sign_ins: int = Field(5, ge=0)
    max_answer: int = Field(LARGEST_ANSWER, ge=1024)


class ClockSettings(ProfileTable):
    advance: str | None = None


class Expect(ProfileTable):
    """What a run must have tested at the least, so that it is not inconclusive: how many musts, which
    accounts with a token, which chapters (what the ids of requirements begin with)."""

    musts: int | None = Field(None, ge=0)
    accounts: list[str] = []
    chapters: list[str] = []

    @field_validator("chapters")
    @classmethod
    def _are_chapters(cls, chapters: list[str]) -> list[str]:
        existing = {row.chapter for row in REQUIREMENTS.values()}
        for chapter in chapters:
            if chapter not in existing:
                hint = nearest(chapter, existing)
                raise ValueError(
                    f'has no chapter "{chapter}".' + (f' Did you mean "{hint}"?' if hint else "")
                )
        return chapters


SECRET_PLACEHOLDERS = re.compile(r"{(?:password|new_password|otp|code)}")


def _secret_fields(body: Json) -> Iterator[str]:
    """The names of fields that are filled with a secret."""
    if isinstance(body, dict):
        for name, value in body.items():
            if isinstance(value, str) and SECRET_PLACEHOLDERS.search(value) and name != "code":
                yield name
            yield from _secret_fields(value)
    elif isinstance(body, list):
        for item in body:
            yield from _secret_fields(item)


class AcceptedRow(ProfileTable):
    """A difference of replays that is accepted until a day; ``path`` has ``[*]`` for each index."""

    endpoint: str
    path: str
    kind: str
    reason: str
    ticket: str = ""
    expires: date | None = None


class ReplaySettings(ProfileTable):
    accept: list[AcceptedRow] = []


class Profile(ProfileTable):
    """The whole profile. ``source`` names the file in messages and reports."""

    profile: Literal[1] = 1
    portal: PortalSettings
    accounts: dict[str, AccountSettings] = {}
    inboxes: dict[str, Inbox] = {}
    records: Records = Records()
    secure_channel: SecureChannelSettings = SecureChannelSettings()
    bot_challenge: BotChallenge = BotChallenge()
    operations: dict[str, OperationSettings] = {}
    limits: LimitSettings = LimitSettings()
    readings: dict[str, Json] = {}
    clock: ClockSettings = ClockSettings()
    expect: Expect = Expect()
    replay: ReplaySettings = ReplaySettings()

    _source: str = PrivateAttr("profile")
    _hidden: tuple[str, ...] = PrivateAttr(())

    @property
    def source(self) -> str:
        return self._source

    def secret_names(self) -> tuple[str, ...]:
        """The headers and fields that hold a secret by this profile: that of the bot challenge, and fields of
        bodies that are filled with a password or a code."""
        bodies = (settings.body for settings in self.operations.values())
        return (self.bot_challenge.header, *dict.fromkeys(chain.from_iterable(map(_secret_fields, bodies))))

    def read_from(self, source: str, hidden: Iterable[str]) -> Self:
        """This profile, which remembers the name of its file and the values that ``${…}`` stands for."""
        self._source = source
        self._hidden = tuple(dict.fromkeys(value for value in hidden if len(value) >= 6))
        return self

    @field_validator("operations")
    @classmethod
    def _knows_its_operations(cls, operations: dict[str, OperationSettings]) -> dict[str, OperationSettings]:
        for key in operations:
            if key not in BY_KEY:
                hint = nearest(key, BY_KEY)
                raise ValueError(f'has no endpoint "{key}".' + (f' Did you mean "{hint}"?' if hint else ""))
        return operations

    @model_validator(mode="after")
    def _knows_its_readings(self) -> Profile:
        readings = {row.reading for row in REQUIREMENTS.values() if row.reading}
        for key in self.readings:
            if key not in readings:
                end = f' Did you mean "{hint}"?' if (hint := nearest(key, readings)) else ""
                raise ValueError(f'[readings] has no reading "{key}".{end}')
        return self

    @model_validator(mode="after")
    def _names_what_exists(self) -> Profile:
        for name, account in self.accounts.items():
            suggestion = nearest(name, ACCOUNTS, cutoff=0.75)
            if name not in ACCOUNTS and suggestion and suggestion not in self.accounts:
                raise ValueError(f'[accounts] has no account "{name}". Did you mean "{suggestion}"?')
            if account.inbox is not None and account.inbox not in self.inboxes:
                hint = nearest(account.inbox, self.inboxes)
                end = f'Did you mean "{hint}"?' if hint else f"Add the table [inboxes.{account.inbox}]."
                raise ValueError(
                    f'[accounts.{name}] inbox is "{account.inbox}", but the profile has no such inbox. {end}'
                )
        return self

    @model_validator(mode="after")
    def _expects_its_accounts(self) -> Profile:
        for name in self.expect.accounts:
            if name not in self.accounts:
                hint = nearest(name, self.accounts)
                end = f' Did you mean "{hint}"?' if hint else f" Add the table [accounts.{name}]."
                raise ValueError(f'[expect] accounts names "{name}", and there is no such account.{end}')
        return self

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Every secret in the profile, as (value, kind)."""
        yield self.portal.access_code, "access-code"
        yield from self.portal.proxy_secrets()
        for account in self.accounts.values():
            yield account.password, "password"
            if account.otp_secret:
                yield account.otp_secret, "otp-secret"
        for inbox in self.inboxes.values():
            if isinstance(inbox, ImapInbox):
                yield inbox.password, "password"
            elif isinstance(inbox, FixedInbox):
                yield inbox.code, "code"
            elif isinstance(inbox, HttpInbox):
                yield from ((value, "inbox-header") for value in inbox.headers.values())
        if self.bot_challenge.token:
            yield self.bot_challenge.token, "bot-token"
        yield from ((value, "profile-value") for value in self._hidden)


def load(path: Path, environ: Mapping[str, str] = os.environ, *, target: str | None = None) -> Profile:
    """Reads a profile; ``target`` takes the place of its ``portal.url``. Raises ProfileError, a line per
    mistake."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ProfileError(
            f"{path}: there is no such file. `portal-conformance init` writes one to fill in."
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise ProfileError(f"{path}: cannot be read ({problem}).") from None
    return parse(text, environ, target=target, name=str(path), folder=path.parent)


def parse(
    text: str,
    environ: Mapping[str, str] = os.environ,
    *,
    target: str | None = None,
    name: str = "profile",
    folder: Path = Path(),
) -> Profile:
    """A profile from its text. Files it names are looked for from ``folder``. Raises ProfileError."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ProfileError(f"{name}: this is not TOML: {problem}.") from None
    if tables.get("profile", 1) != 1:
        raise ProfileError(
            f"{name}: profile = {tables['profile']!r} is not supported by this version; write profile = 1."
        )
    if target is not None and isinstance(tables.setdefault("portal", {}), dict):
        tables["portal"]["url"] = target
    hidden: list[str] = []
    source = _Source(name, environ, folder, hidden)
    tables = {key: _filled(value, (key,), source) for key, value in tables.items()}
    if source.problems:
        raise ProfileError("\n".join(source.problems))
    if not tables.get("accounts"):
        raise ProfileError(
            f"{name}: there is no account. Add the table [accounts.admin] with email and password."
        )
    return _validated(tables, name, hidden)


def of_target(url: str, environ: Mapping[str, str] = os.environ) -> Profile:
    """What is known of a target that has no profile: its address, and PORTAL_ACCESS_CODE where that is
    set."""
    portal = {"url": url, "access_code": environ.get("PORTAL_ACCESS_CODE", "")}
    return _validated({"portal": portal}, "--target", [])


def placeholders_in(value: Json) -> set[str]:
    """The names in braces in the texts of an operation's body."""
    if isinstance(value, str):
        return set(PLACEHOLDER.findall(value))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(placeholders_in, inner))


def _validated(tables: dict[str, Any], name: str, hidden: list[str]) -> Profile:
    try:
        profile = Profile.model_validate(tables)
    except ValidationError as problem:
        raise ProfileError("\n".join(f"{name}: {line}" for line in sentences(problem, Profile))) from None
    return profile.read_from(name, hidden)


class _Source:
    """Where ``${…}`` takes its values from. ``problems`` collects what cannot be taken, so that all of it is
    reported at once."""

    def __init__(self, name: str, environ: Mapping[str, str], folder: Path, hidden: list[str]) -> None:
        self.name, self.environ, self.folder, self.hidden = name, environ, folder, hidden
        self.problems: list[str] = []

    def value(self, reference: str, place: tuple[str, ...]) -> str:
        """The value of a reference; an empty one where it has none, which is a problem."""
        try:
            return self._value(reference, place)
        except ProfileError as problem:
            self.problems.append(str(problem))
            return ""

    def _value(self, reference: str, place: tuple[str, ...]) -> str:
        where = f"{self.name}: {spoken(place)}"
        if reference.startswith("file:"):
            path = self.folder / Path(reference.removeprefix("file:")).expanduser()
            try:
                text = path.read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as problem:
                raise ProfileError(f"{where} cannot be read from {path} ({problem}).") from None
        elif reference in self.environ:
            text = self.environ[reference]
        else:
            raise ProfileError(f"{where} needs the environment variable {reference}, which is not set.")
        if not text:
            kind = "file" if reference.startswith("file:") else "environment variable"
            raise ProfileError(f"{where} needs the {kind} {reference}, which is empty.")
        if place[0] == "operations" or place[1:2] == ("headers",):
            self.hidden.append(text)
        return text


def _filled(value: Any, place: tuple[str, ...], source: _Source) -> Any:
    """The value with every ``${NAME}`` and ``${file:PATH}`` replaced; ``$${`` stands for ``${``."""
    if isinstance(value, dict):
        return {key: _filled(inner, (*place, key), source) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, place, source) for inner in value]
    if isinstance(value, str) and "${" in value:
        return re.sub(
            r"\$\$\{|\$\{([^}]+)\}",
            lambda match: source.value(match[1].strip(), place) if match[1] else "${",
            value,
        )
    return value


def spoken(place: tuple[str, ...]) -> str:
    """A place in the profile as its writer knows it: ``[accounts.admin] password``."""
    tables = {"accounts": 2, "inboxes": 2, "operations": 2}
    depth = min(tables.get(place[0], 1), len(place))
    head = ".".join(name if re.fullmatch(r"[\w-]+", name) else f'"{name}"' for name in place[:depth])
    return " ".join((f"[{head}]", ".".join(place[depth:]))).strip()
