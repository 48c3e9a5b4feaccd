"""The tables of a profile as values: each key with its type, its default and what it means.

The descriptions are the texts of the profile reference in ``docs/reference/profile.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from conformance.descriptions import Descriptions, described_by
from conformance.spec import REQUIREMENTS
from conformance.target.profile.authenticator import SCHEME, normal_secret
from conformance.target.profile.errors import hint_at, nearest
from conformance.target.profile.placeholders import PLACEHOLDERS, placeholders_in
from conformance.traffic.address import is_http_address
from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.exchange import Json
from conformance.traffic.patterns import compiled

Factor = Literal["EMAIL", "OTP"]


def _http_address(url: str) -> str:
    """The address. ValueError: no request can be sent to it."""
    if not is_http_address(url.replace("{email}", "a")):
        raise ValueError('must be an address such as "http://127.0.0.1:8000"')
    return url


def _header_name(name: str) -> str:
    is_name = re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name)
    if not is_name or name.lower() in ("content-length", "transfer-encoding"):
        raise ValueError('must be the name of a header such as "X-API-Key"')
    return name


def _header_value(value: str) -> str:
    if not re.fullmatch(r"(?:[!-~](?:[ -~\t]*[!-~])?)?", value):
        raise ValueError("must be printable ASCII without blanks at its ends, as a header sends it")
    return value


def _line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


def _base_address(url: str) -> str:
    if re.search("[@?#]", url):
        raise ValueError('must be an address such as "http://127.0.0.1:8000"')
    return _http_address(url).rstrip("/")


def _proxy(proxy: str) -> str:
    if not re.match(r"http://[^/\s?#]+/?\Z", proxy) or not is_http_address(proxy):
        raise ValueError('must be the address of an HTTP proxy such as "http://127.0.0.1:3128"')
    return proxy


def _otp_secret(secret: str) -> str:
    normal = normal_secret(secret)
    if normal is None and secret.lower().startswith(SCHEME):
        raise ValueError("must be an otpauth URI with a secret in base32, whose codes last 30 seconds")
    if normal is None:
        raise ValueError("must be base32, the letters A to Z and the digits 2 to 7")
    return normal


def _pattern(pattern: str) -> str:
    try:
        compiled(pattern)
    except ValueError as problem:
        raise ValueError(f"must be a regular expression: {problem}") from None
    return pattern


def _payload(payload: str) -> str:
    if sorted(payload.split("+")) not in (["ciphertext", "iv", "tag"], ["ciphertext", "iv"]):
        raise ValueError('must be iv, ciphertext and tag in some order, such as "iv+ciphertext+tag"')
    return payload


def _prefix(prefix: str) -> str:
    if not re.fullmatch(r"[A-Z][A-Z0-9]{0,15}", prefix):
        raise ValueError('must be a word in capitals such as "OWN"')
    if prefix in {"READING", *(row.chapter.partition("-")[0] for row in REQUIREMENTS.values())}:
        raise ValueError(f'is "{prefix}", as rules of the specification begin. Choose another one')
    return prefix


HttpAddress = Annotated[str, AfterValidator(_http_address)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
Line = Annotated[str, AfterValidator(_line)]

ACCOUNTS: Mapping[str, str] = {
    "admin": "signs in for most cases",
    "spare": "its password, sessions and factors may be changed",
    "limited": "active, but without permissions",
    "pending": "awaits approval",
}
"""The accounts that the cases ask for. Others may be named: a replay signs in as whoever was recorded."""

WAYS_IN = ("admin", "spare", "limited")
"""Those of them that a run expects to be given a token."""


class ProfileTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class PortalSettings(ProfileTable):
    """Portal address and connection settings."""

    url: Annotated[str, AfterValidator(_base_address)] = Field(
        description="The base URL; the paths of the specification are appended to it."
    )
    access_code: HeaderValue = Field(description="The value of the header `X-PORTAL-ACCESS-CODE`.")
    other_access_code: HeaderValue | None = Field(
        None,
        min_length=1,
        description="The access code of another portal of the deployment, such as the tenants': requests "
        "with it must be refused (HEADER-002). Not a second code of this portal.",
    )
    api_key: HeaderValue | None = Field(
        None,
        min_length=1,
        description="An API key that the deployment accepts elsewhere: the file read must refuse it. Without "
        "it, FILE-022 is contradicted where a made-up key opens a file, and untested otherwise.",
    )
    api_key_header: HeaderName = Field("X-API-Key", description="The header that carries the API key.")
    headers: dict[HeaderName, HeaderValue] = Field(
        {},
        description="Headers to send. They are added to the default ones; one of the same name replaces "
        "the default.",
    )
    edge_headers: bool = Field(
        True,
        description="Whether `CF-*`, `X-Real-IP` and `X-Forwarded-*` are sent; false where a real edge "
        "proxy sets them.",
    )
    verify: bool | str = Field(
        True,
        description="Whether the certificate is checked: true, false, or the path of a file with CA "
        "certificates.",
    )
    client_cert: str | None = Field(
        None,
        description="The path of a PEM file with the certificate that a portal behind mutual TLS asks for.",
    )
    client_key: str | None = Field(
        None, description="The path of the certificate's key, where `client_cert` does not hold it."
    )
    timeout: float = Field(
        10.0, gt=0, description="Seconds for one request, from its first byte to the last of its answer."
    )
    proxy: Annotated[str, AfterValidator(_proxy)] | None = Field(
        None, description="The address of an HTTP proxy; none is taken from the environment."
    )

    @field_validator("other_access_code")
    @classmethod
    def _is_another_code(cls, code: str | None, info: ValidationInfo) -> str | None:
        own = info.data.get("access_code", "")
        if code is not None and code.strip().casefold() == own.strip().casefold():
            raise ValueError("must be the code of another portal, and is that of this one")
        return code

    def secrets(self) -> Iterator[tuple[str, str, str]]:
        """The access codes, the API key, and the password in the address of the proxy, each with its kind and
        place."""
        yield self.access_code, "access-code", "portal.access_code of the profile"
        if self.other_access_code:
            yield self.other_access_code, "access-code", "portal.other_access_code of the profile"
        if self.api_key:
            yield self.api_key, "api-key", "portal.api_key of the profile"
        password = urlsplit(self.proxy or "").password
        if password:
            yield unquote(password), "password", "portal.proxy of the profile"


class AccountSettings(ProfileTable):
    """An account that the suite signs in."""

    email: Line = Field(description="The email address that the account signs in with.")
    password: str = Field(description="The password of the account.")
    mfa: Factor | None = Field(
        None, description="The second factor to use, if the account has both. Without it, either is used."
    )
    otp_secret: Annotated[str, AfterValidator(_otp_secret)] | None = Field(
        None,
        description="The secret of the authenticator, in base32; or its `otpauth://` URI, which is needed "
        "where codes are made with SHA-256 or SHA-512, or have seven or eight digits.",
    )
    inbox: str | None = Field(
        None, description="The name of the table under `[inboxes]` where the codes arrive."
    )


CODE = r"(?<![\w.#+])(?<!\d:)(\d{6})(?![\w+])(?![.:]\w)"
"""Six digits that are no part of a number, a time, a colour or a word."""


class Mailbox(ProfileTable):
    """What inboxes that are read have in common."""

    pattern: Annotated[str, AfterValidator(_pattern)] = Field(
        CODE,
        description="A regular expression: its first match in a message, or the first group, is the code.",
    )
    timeout: float = Field(10.0, gt=0, description="Seconds to wait for a message.")


EMAIL = "{email}"


class HttpInbox(Mailbox):
    """An address that answers with the messages, the newest first."""

    kind: Literal["http"] = Field(description="The kind of the inbox.")
    url: HttpAddress = Field(description="The address; `{email}` stands for the account's email address.")
    headers: dict[HeaderName, HeaderValue] = Field({}, description="Headers of the request, such as a token.")

    @property
    def is_of_one_address(self) -> bool:
        return EMAIL in self.url


class ImapInbox(Mailbox):
    """A mailbox over IMAP, which is read and never changed."""

    kind: Literal["imap"] = Field(description="The kind of the inbox.")
    host: str = Field(description="The mail server.")
    port: int = Field(993, description="The port of the mail server.")
    username: str = Field(description="The user name of the mailbox.")
    password: str = Field(description="The password of the mailbox.")
    folder: str = Field("INBOX", description="The folder that the messages arrive in.")
    ssl: bool = Field(
        True, description="Whether TLS is used from the first byte; false only for a test server."
    )
    starttls: bool = Field(
        False, description="Whether TLS begins by STARTTLS, usually at port 143, in place of `ssl`."
    )
    verify: bool | str = Field(
        True,
        description="Whether the certificate is checked: true, false, or the path of a file with CA "
        "certificates.",
    )


class CommandInbox(Mailbox):
    """A command that prints the messages, the newest first: also for a mailbox that asks for OAuth2."""

    kind: Literal["command"] = Field(description="The kind of the inbox.")
    argv: list[str] = Field(
        min_length=1,
        description="The command and its arguments; `{email}` stands for the account's email address.",
    )

    @property
    def is_of_one_address(self) -> bool:
        return any(EMAIL in word for word in self.argv)


class FixedInbox(ProfileTable):
    """A constant code, as test deployments use."""

    kind: Literal["fixed"] = Field(description="The kind of the inbox.")
    code: str = Field(description="The code, which is always the same.")


Inbox = Annotated[HttpInbox | ImapInbox | CommandInbox | FixedInbox, Field(discriminator="kind")]


class Records(ProfileTable):
    """Ids that exist at the target. What is not given is looked up where a listing allows it, and then only
    read: a run changes records that stand here, and those that it creates."""

    workspace: str | None = Field(None, description="The id of a workspace of the admin.")
    institution: str | None = Field(None, description="The id of an institution.")
    role: str | None = Field(None, description="The id of a role.")
    file: str | None = Field(None, description="The id of a file.")
    account: str | None = Field(None, description="The id of an account.")
    channel: str | None = Field(None, description="The id of a notification channel.")
    channel_type: str | None = Field(None, description="The id of a type of notification channels.")
    other_workspace: str | None = Field(None, description="The id of another workspace of the admin.")


class SecureChannelSettings(ProfileTable):
    """What the specification leaves open of the secure channel (N2, N6). What is not written is found out
    where it can be."""

    key_id_field: str = Field(
        "keyId",
        description="The field with the id of the public key: a name, or a path within the answer's `data` "
        "such as `publicKey.kid` or `keys[0].kid`. A name is found at any depth.",
    )
    public_key_field: str = Field(
        "publicKey", description="The field with the public key: a name, or a path such as `keys[0]`."
    )
    public_key_format: Literal["spki-base64", "pem", "jwk"] = Field(
        "spki-base64", description="The form of the public key."
    )
    rsa_padding: Literal["oaep-sha256", "oaep-sha1", "pkcs1v15"] = Field(
        "oaep-sha256", description="The padding of the encrypted AES key."
    )
    mgf1: Literal["sha256", "sha1"] = Field("sha256", description="The mask hash of OAEP.")
    body: Literal["string", "object"] = Field(
        "string", description="Whether an encrypted body is sent as a JSON string or as an object."
    )
    responses: Literal["plain", "encrypted"] = Field(
        "plain", description="Whether responses are encrypted, with the response key."
    )
    aes_mode: Literal["gcm", "cbc"] = Field(
        "gcm", description="GCM (12-byte IV, 16-byte tag) or CBC (16-byte IV, PKCS #7)."
    )
    payload: Annotated[str, AfterValidator(_payload)] = Field(
        "iv+ciphertext+tag", description="The order of the parts of an encrypted body, before its base64."
    )

    def is_pinned(self, name: str) -> bool:
        """Whether the profile says it: then nothing else is tried."""
        return name in self.model_fields_set


class BotChallenge(ProfileTable):
    """The token of a bot challenge."""

    token: str | None = Field(None, description="A token that the target accepts.")
    header: str = Field(
        "X-Turnstile-Token",
        description="The header that carries the token where the body has no field for it.",
    )


class OperationSettings(ProfileTable):
    """An endpoint, by its method and path: a body that the specification does not show, and where in the
    answer what stands."""

    body: Json = Field(None, description="The body to send, with placeholders.")
    result_id: str | None = Field(
        None, description="Where the id of the new record stands in the answer, such as `data.bizId`."
    )
    secret: str | None = Field(
        None, description="Where the secret of a new authenticator stands, such as `data.secret`."
    )

    @field_validator("body")
    @classmethod
    def _knows_its_placeholders(cls, body: Json) -> Json:
        for name in sorted(placeholders_in(body) - set(PLACEHOLDERS)):
            hint = nearest(name, PLACEHOLDERS)
            advice = f"Did you mean {{{hint}}}?" if hint else f"Known are {', '.join(PLACEHOLDERS)}."
            raise ValueError(f"has no placeholder {{{name}}}. {advice} (Write {{{{ for a literal brace.)")
        return body


class LimitSettings(ProfileTable):
    """Budgets of one run."""

    login_window: float | None = Field(
        None,
        gt=0,
        description="The window in which 10 sign-ins may begin, in seconds. Without it, a run learns the "
        "window from refusals, and LIMIT-001 to LIMIT-004, LIMIT-014 and LIMIT-017 stay untested.",
    )
    max_mails: int = Field(20, ge=0, description="The most messages that a run lets the portal send.")
    max_failed_sign_ins: int = Field(
        5,
        ge=0,
        description="The most failed sign-ins of one account that a run causes on purpose: wrong passwords "
        "in all, and wrong codes in a row.",
    )
    change_shows: float = Field(
        10.0,
        gt=0,
        le=600,
        description="The most seconds after which a change shows wherever it is read: so long a run looks "
        "again before it says that nothing was changed.",
    )
    max_answer: int = Field(
        LARGEST_ANSWER,
        ge=1024,
        description="The most bytes of an answer that are read. A longer answer is not judged.",
    )


class ClockSettings(ProfileTable):
    """A test deployment whose time can be advanced."""

    advance: HttpAddress | None = Field(
        None,
        description='The address that advances the time by a `POST` of `{"seconds": 61}`, a whole number; '
        '`{"seconds": 0}` asks for the time alone. The answer is `{"now": 1767225661.5}`, the time then in '
        "seconds since 1970 or as ISO 8601. Without `now`, the time is that of the portal's first answers "
        "(`timestamp`, else `Date`), plus the seconds that were asked for since.",
    )


class ExtendSettings(ProfileTable):
    """What is known of a portal beyond the specification. Files are looked for from the folder of the
    profile."""

    rules: list[str] = Field(
        [],
        description="Files with rules of your own, which end with `.toml` or `.py`. They count in a score of "
        "their own.",
    )
    prefix: Annotated[str, AfterValidator(_prefix)] = Field(
        "OWN", description="What the ids of your own rules begin with: `OWN-1`."
    )
    matchers: dict[str, str] = Field(
        {},
        description="By place, such as `data.items[*].score`, when a replay takes two values for the same: "
        "`anything`, `equal`, `form` (both are times, say, or numbers), or a function of both values, "
        "`matchers.py:name`. An endpoint may stand before the place.",
    )

    descriptions: list[str] = Field(
        [],
        description="OpenAPI 3.0 or 3.1 files, JSON or YAML, of further endpoints. Traffic is compared with "
        "them, and what differs has lines of its own: it is no rule of the specification.",
    )
    overlays: list[str] = Field(
        [],
        description="OpenAPI Overlay 1.x files, which change the descriptions: the one that `extends` names, "
        "or all.",
    )

    def within(self, folder: Path) -> ExtendSettings:
        """The same with absolute paths of descriptions; relative ones are below the folder."""
        below, names = folder.absolute(), ("descriptions", "overlays")
        paths = {name: [str(below / path) for path in getattr(self, name)] for name in names}
        return self.model_copy(update=paths)

    def described(self, further: Iterable[Path] = ()) -> Descriptions:
        """What the descriptions, and further ones, describe. UsageError."""
        return described_by((*map(Path, self.descriptions), *further), tuple(map(Path, self.overlays)))


class Expect(ProfileTable):
    """What a run must have tested at the least, so that it is not inconclusive; `doctor` prints what fits."""

    musts: int | None = Field(
        None,
        ge=0,
        description="The least number of musts that a run has to test; with fewer it is inconclusive. "
        "Without it: half of those that can be tried.",
    )
    accounts: list[str] = Field(
        [], description="Accounts that must have received a token, so that a run is not inconclusive."
    )
    chapters: list[str] = Field(
        [], description="Chapters, such as `LOGIN`. At least one must of each has to be tested."
    )

    @field_validator("chapters")
    @classmethod
    def _are_chapters(cls, chapters: list[str]) -> list[str]:
        existing = {row.chapter for row in REQUIREMENTS.values()}
        for chapter in chapters:
            if chapter not in existing:
                raise ValueError(f'has no chapter "{chapter}".{hint_at(chapter, existing)}')
        return chapters
