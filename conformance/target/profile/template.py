"""The commented profile that ``setup --print`` prints: every table and key, and what each is for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.spec.operations import OPERATIONS, Operation
from conformance.target.profile.placeholders import PLACEHOLDERS
from conformance.target.profile.tables import ACCOUNTS, SecureChannelSettings

HEAD = """\
# What the conformance suite is told of one portal. `portal-conformance doctor --profile FILE` tries it out.
#
# Only [portal] and one account are needed. Whatever is left out makes the cases that need it UNTESTED.
# ${NAME} is taken from the environment and ${file:PATH} from a file, so that no secret needs to stand here.
# Lines that begin with "# " and a key are examples: take the "# " away to use them.

profile = 1

[portal]
url = "http://127.0.0.1:8000"
access_code = "${PORTAL_ACCESS_CODE}"     # X-PORTAL-ACCESS-CODE
# other_access_code = "${OTHER_ACCESS_CODE}"  # of another portal of the deployment: it must be refused here
# api_key = "${PORTAL_API_KEY}"           # one that is accepted elsewhere: the file read must refuse it
# api_key_header = "X-API-Key"            # the header that carries it
# headers = { "X-LOCALE" = "en" }         # added to, or in place of, the default headers
# edge_headers = true                     # send CF-*, X-Real-IP, X-Forwarded-*; false behind a real edge
# verify = true                           # check certificates; or false, or the path of a CA file
# client_cert = "client.pem"              # for mutual TLS, with its key or without
# client_key = "client.key"               # the key, where client_cert lacks it
# timeout = 10.0                          # seconds for one request, from its first byte to its last
# proxy = "http://127.0.0.1:3128"         # an HTTP proxy; none is taken from the environment
"""

ADMIN = """\
[accounts.admin]
# {purpose}
email = "admin@example.test"
password = "${{ADMIN_PASSWORD}}"
# mfa = "OTP"                             # how it signs in where both are possible: EMAIL or OTP
otp_secret = "${{ADMIN_OTP_SECRET}}"        # base32, for OTP
# inbox = "mail"                          # the table under [inboxes] where its codes arrive, for EMAIL
"""

ACCOUNT = """\
# [accounts.{name}]
# # {purpose}
# email = "{name}@example.test"
# password = "${{{upper}_PASSWORD}}"
# inbox = "mail"
"""

INBOX_KINDS = "# Where emailed codes arrive. An inbox is one of four kinds.\n"
INBOXES = (
    INBOX_KINDS
    + """\
#
# [inboxes.mail]
# kind = "http"                           # a GET that answers with the newest message first
# url = "http://127.0.0.1:8025/inbox/{email}"
# pattern = 'code is (\\d{6})'             # the first match is the code (its first group, where it has one)
# timeout = 10.0                          # seconds to wait for a mail
#
# [inboxes.mailbox]
# kind = "imap"
# host = "imap.example.test"
# port = 993
# username = "codes@example.test"
# password = "${IMAP_PASSWORD}"
# folder = "INBOX"
# verify = true                           # check the certificate; or false, or the path of a CA file
#
# [inboxes.script]
# kind = "command"                        # prints the newest message first
# argv = ["./newest-mail", "{email}"]
#
# [inboxes.constant]
# kind = "fixed"                          # a test deployment whose code never changes
# code = "000000"
"""
)

RECORDS = """\
# Ids that exist at the target. What is not given is looked up where a listing allows it, but what is merely
# found there is only read: records that may be changed are those named here, and those a run makes itself.
#
# [records]
# workspace = "…"
# other_workspace = "…"
# institution = "…"
# role = "…"
# account = "…"
# file = "…"
# channel = "…"
# channel_type = "…"
"""

REST = """\
# [bot_challenge]
# token = "${BOT_TOKEN}"                  # one that the target accepts
# header = "X-Turnstile-Token"            # where it goes where the body has no place for it

# [limits]
# login_window = 60                       # seconds in which 10 sign-ins may begin; rules of the rate need it
# max_mails = 20                          # the most mails that a run has sent
# max_failed_sign_ins = 5                 # the most sign-ins that are meant to fail, for each account
# change_shows = 10                       # seconds after which a change shows wherever it is read
# max_answer = 8388608                    # bytes of an answer that are read; more is not judged

# [readings]
# A reading of something that the specification leaves open, pinned: a run that finds another one fails.
# "invalid-credentials-status" = 401

# [extend]
# What you know beyond the specification: `portal-conformance docs rest-of-your-portal`.
# rules = ["rules.toml", "rules.py"]      # rules of your own, which count in a score of their own
# prefix = "OWN"                          # what their ids begin with: OWN-1
# descriptions = ["more.json"]            # OpenAPI files of endpoints that the specification lacks
# overlays = ["changes.yaml"]             # OpenAPI Overlays, which change them
# matchers = { "data.score" = "anything" } # when a replay takes two values for the same

# [expect]
# What a run must have tested, so that its verdict says anything; `doctor` prints what fits this profile.
# musts = 400                             # so many musts; without it, half of those that can be tried
# accounts = ["admin", "spare"]           # each must have been given a token
# chapters = ["LOGIN", "FILE"]            # of each, something must have been tested

# [clock]
# A test deployment whose time can be moved, by POST {"seconds": 61}, answered by {"now": 1767225661.5}.
# advance = "http://127.0.0.1:8000/clock/advance"
"""

OPERATIONS_HEAD = """\
# Bodies that the specification does not show. Without one, only what an empty body does is tested.
# Those below are guesses: only the deployment's own documents know the fields. Check a body before you take
# its "# " away: a run with --impact mutating or disruptive sends it.
# Placeholders: {placeholders}.
# In a body {{result_id}} stands for the record that the run made; {{channel}} and the like stand for yours
# under [records], which no update or deletion may name.
# `result_id` is where the new record's id stands in the answer, `secret` where a new authenticator's secret.
#"""

GUESSES = {
    "password/reset": '{ email = "{email}", code = "{code}", newPassword = "{new_password}" }',
    "password/init": '{ email = "{email}", code = "{code}", newPassword = "{new_password}" }',
    "password/change": '{ oldPassword = "{password}", newPassword = "{new_password}" }',
    "session/close": '{ sessionId = "{session_id}" }',
    "otp/verify": '{ code = "{otp}" }',
    "sessions/terminate": '{ sessionId = "{session_id}" }',
    "accounts/admin/update": '{ userBizId = "{account}", accountName = "{unique}" }',
    "accounts/admin/status": '{ userBizId = "{account}", accountStatus = "…" }',
    "accounts/admin/password/reset": '{ userBizId = "{account}" }',
    "currency-grants": '{ workspaceBizId = "{workspace}", currency = "…" }',
    "channel-types/create": '{ typeCode = "{unique}", typeName = "{unique}" }',
    "channel-types/update": '{ bizId = "{result_id}", typeName = "{unique}" }',
    "channels/create": (
        '{ channelName = "{unique}", channelHost = "…", channelCategory = "EMAIL", '
        'emailConfig = { smtpHost = "smtp.example.test", smtpPort = 587 } }'
    ),
    "channels/update": '{ bizId = "{result_id}", channelName = "{unique}" }',
    "validate/imap": '{ host = "imap.example.test", port = 993, username = "…", password = "…" }',
    "validate/smtp": '{ host = "smtp.example.test", port = 465, username = "…", password = "…" }',
}
"""What such a body may look like, by the end of the path. Only the deployment's own documents know."""

OF_A_RECORD = '{ bizId = "{result_id}" }'


def text() -> str:
    """The whole file. It is valid as it stands, once the three variables that it names are set."""
    accounts = [
        ACCOUNT.format(name=name, purpose=purpose, upper=name.upper())
        for name, purpose in ACCOUNTS.items()
        if name != "admin"
    ]
    operations = "\n#\n".join("\n".join(_operation(row)) for row in OPERATIONS if _is_open(row))
    head = OPERATIONS_HEAD.format(placeholders=", ".join(f"{{{name}}}" for name in PLACEHOLDERS))
    head = head.replace(", {institution}", ",\n# {institution}")
    parts = (
        HEAD,
        ADMIN.format(purpose=ACCOUNTS["admin"]),
        *accounts,
        INBOXES,
        RECORDS,
        _secure_channel(),
        REST,
    )
    return "\n".join((*parts, f"{head}\n{operations}\n"))


@dataclass(frozen=True, slots=True)
class InboxAnswers:
    """How emailed codes are read: the kind of the inbox with the values of its table. ``variable`` is the
    environment variable that holds its secret, which stands in one of the values."""

    kind: str
    values: Mapping[str, str | Sequence[str]]
    variable: str | None = None

    def table(self) -> str:
        """The table of the inbox as TOML; texts of JSON are texts of TOML."""
        rows = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in self.values.items())
        return "\n".join(["[inboxes.mail]", f'kind = "{self.kind}"', *rows])


@dataclass(frozen=True, slots=True)
class AccountAnswers:
    """An account that signs in. ``password``, and ``otp_secret`` for an authenticator, name environment
    variables; without the latter its codes are mailed."""

    email: str
    password: str
    otp_secret: str | None = None

    def table(self, name: str, inbox: InboxAnswers | None) -> str:
        rows = [f"[accounts.{name}]", f'email = "{self.email}"', f'password = "${{{self.password}}}"']
        rows += [f'otp_secret = "${{{self.otp_secret}}}"'] if self.otp_secret else []
        return "\n".join([*rows, 'inbox = "mail"'] if inbox else rows)


@dataclass(frozen=True, slots=True)
class ProfileAnswers:
    """What a profile cannot do without; a second account and a token for the bot challenge if any.
    Secrets are names of environment variables; ``inbox`` says where mails are read, for emailed codes."""

    url: str
    access_code: str
    admin: AccountAnswers
    spare: AccountAnswers | None = None
    inbox: InboxAnswers | None = None
    bot_token: str | None = None

    @property
    def variables(self) -> list[str]:
        accounts = [each for each in (self.admin, self.spare) if each]
        of_accounts = [name for each in accounts for name in (each.password, each.otp_secret)]
        others = (self.inbox.variable if self.inbox else None, self.bot_token)
        return [name for name in (self.access_code, *of_accounts, *others) if name]


def filled(answers: ProfileAnswers) -> str:
    whole = text()
    for place, value in _places(answers):
        if place not in whole:
            raise ValueError(f"the template has no {place!r}")
        whole = whole.replace(place, value, 1)
    return whole


def _places(answers: ProfileAnswers) -> Iterator[tuple[str, str]]:
    yield 'url = "http://127.0.0.1:8000"', f'url = "{answers.url}"'
    yield "${PORTAL_ACCESS_CODE}", f"${{{answers.access_code}}}"
    yield 'email = "admin@example.test"', f'email = "{answers.admin.email}"'
    yield "${ADMIN_PASSWORD}", f"${{{answers.admin.password}}}"
    if answers.admin.otp_secret:
        yield "${ADMIN_OTP_SECRET}", f"${{{answers.admin.otp_secret}}}"
        yield '# mfa = "OTP"', 'mfa = "OTP"'
    else:
        yield 'otp_secret = "${ADMIN_OTP_SECRET}"', '# otp_secret = "${ADMIN_OTP_SECRET}"'
        yield '# mfa = "OTP"', 'mfa = "EMAIL"'
    if answers.inbox:
        yield '# inbox = "mail"', 'inbox = "mail"'
        yield (
            f"{INBOX_KINDS}#\n# [inboxes.mail]",
            f"{answers.inbox.table()}\n\n{INBOX_KINDS}#\n# [inboxes.other]",
        )
    if answers.spare:
        spare = ACCOUNT.format(name="spare", purpose=ACCOUNTS["spare"], upper="SPARE")
        yield spare, f"{answers.spare.table('spare', answers.inbox)}\n"
    if answers.bot_token:
        yield (
            '# [bot_challenge]\n# token = "${BOT_TOKEN}"',
            f'[bot_challenge]\ntoken = "${{{answers.bot_token}}}"',
        )


def _secure_channel() -> str:
    settings = SecureChannelSettings()
    notes = {
        "public_key_format": "spki-base64, pem or jwk",
        "rsa_padding": "oaep-sha256, oaep-sha1 or pkcs1v15",
        "mgf1": "the mask hash of OAEP: sha256 or sha1",
        "body": "an encrypted body as a JSON string, or as an object",
        "responses": "plain, or encrypted with the response key",
        "aes_mode": "gcm (12-byte IV, 16-byte tag) or cbc (16-byte IV, PKCS #7)",
        "payload": "the order, then base64",
    }
    head = "# What is left open of the secure channel; what is missing is found out if it can be.\n#\n"
    rows = "\n".join(
        f'# {name} = "{getattr(settings, name)}"'.ljust(42) + (f"# {notes[name]}" if name in notes else "")
        for name in SecureChannelSettings.model_fields
    )
    return f"{head}# [secure_channel]\n" + "\n".join(line.rstrip() for line in rows.splitlines()) + "\n"


def _is_open(row: Operation) -> bool:
    return bool({"N1", "N3", "N6"} & set(row.gaps)) or row.path.endswith("/otp/setup")


def _operation(row: Operation) -> Iterator[str]:
    yield f'# [operations."{row.key}"]'
    if row.path.endswith("/otp/setup"):
        yield '# secret = "data.secret"'
        return
    ends = [end for end in GUESSES if row.path.endswith(end)]
    yield f"# body = {GUESSES[max(ends, key=len)] if ends else OF_A_RECORD}"
    if row.path.endswith("/create") or row.path.endswith("/currency-grants"):
        yield '# result_id = "data.bizId"'
