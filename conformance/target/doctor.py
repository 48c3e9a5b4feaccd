"""Checks each part of a profile against its target, and names the cause of what does not work."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import httpx

from conformance.errors import FaultClass, LedgerError, NoAnswer, ProfileError, TargetUnreachable, Untestable
from conformance.spec.endpoints import (
    ACCOUNT,
    COUNTRIES,
    FILE,
    INSTITUTION,
    PROFILE,
    PUBLIC_KEY,
    ROLE,
    TRANSFER_ORDERS,
)
from conformance.spec.operations import OPERATIONS, operation
from conformance.target.clock import Clock, SystemClock
from conformance.target.locks import target_lock
from conformance.target.portal import Portal, clock_of
from conformance.target.portal.budget import INITIATIONS
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.inboxes import reader
from conformance.target.portal.login import refusal
from conformance.target.portal.restoring import cleanup_command
from conformance.target.profile.model import ACCOUNTS, Profile, Records, SecureChannelSettings
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.redact import Secrets

State = Literal["works", "missing", "wrong"]

GUARDED = COUNTRIES
SKEW = 20.0
"""Seconds between the clocks here and there from which authenticator codes are in danger."""

READ_BY = {
    "role": (ROLE, "roleBizId"),
    "institution": (INSTITUTION, "institutionBizId"),
    "file": (FILE, "fileBizId"),
    "account": (ACCOUNT, "userBizId"),
}
"""The endpoints that read one record of a kind."""


@dataclass(frozen=True)
class Diagnosis:
    """One part of a profile: ``works``; ``missing``, so that what needs it stays untested; or ``wrong``.

    ``message`` says what was found and what to do. ``fault_class`` is None for what works. ``learned`` are
    values that the profile does not have, by their key in the part's table.
    """

    part: str
    state: State
    message: str
    fault_class: FaultClass | None = None
    learned: Mapping[str, Json] = field(default_factory=dict)


Check = Callable[[Portal], Iterator[Diagnosis]]


def examine(
    profile: Profile,
    *,
    on_exchange: Callable[[Exchange], None] = lambda exchange: None,
    on_check: Callable[[str], None] = lambda part: None,
    handler: httpx.BaseTransport | None = None,
) -> list[Diagnosis]:
    """Tries each part of a profile once: at most one sign-in per account, and nothing that changes anything.

    Where the target does not answer as a portal, lets nothing in, or has no clock where the profile names
    one, the rest is not tried. ``on_check`` gets
    the name of each part before it is tried. ``handler`` takes the place of the network.
    """
    diagnoses: list[Diagnosis] = []
    clock = _clock(profile, diagnoses)
    checks = CHECKS if clock is not None else (_target,)
    try:
        with Portal.connect(
            profile,
            impact="read-only",
            clock=clock or SystemClock(),
            secrets=Secrets(),
            on_exchange=on_exchange,
            handler=handler,
        ) as portal:
            for check in checks:
                on_check(check.__name__.strip("_").replace("_", " "))
                diagnoses.extend(_safely(check, portal))
                if check in GATES and diagnoses[-1].state == "wrong":
                    break
    except TargetUnreachable as gone:
        diagnoses.append(Diagnosis("portal.url", "wrong", str(gone), "environment"))
    return diagnoses


def _clock(profile: Profile, diagnoses: list[Diagnosis]) -> Clock | None:
    """The profile's clock; None where the one it names cannot be moved."""
    try:
        clock = clock_of(profile)
        if profile.clock.advance is not None:
            clock.now()
            diagnoses.append(Diagnosis("clock", "works", "the target's time can be advanced: no run waits"))
    except ProfileError as problem:
        diagnoses.append(Diagnosis("clock", "wrong", str(problem), "configuration"))
    except TargetUnreachable as problem:
        diagnoses.append(Diagnosis("clock", "wrong", str(problem), "environment"))
    else:
        return clock
    return None


def _safely(check: Check, portal: Portal) -> Iterator[Diagnosis]:
    """A check's findings; what keeps it from ending is one of them."""
    try:
        yield from check(portal)
    except Untestable as reason:
        yield Diagnosis(check.__name__.strip("_"), "wrong", reason.reason, reason.fault_class)


def _target(portal: Portal) -> Iterator[Diagnosis]:
    """Whether a portal answers at the address. Raises TargetUnreachable."""
    part = "portal.url"
    try:
        answer = portal.call(PUBLIC_KEY)
    except NoAnswer as silent:
        yield Diagnosis(part, "wrong", f"{silent.reason}. [portal] timeout may be too short.", "environment")
        return
    if answer.status in (301, 302, 303, 307, 308):
        place = answer.at("headers.location")
        message = f"{portal.url} redirects to {place}. Enter the portal's own address as [portal] url."
        yield Diagnosis(part, "wrong", message, "configuration")
    elif answer.envelope is None and (answer.status or 0) < 500:
        message = f"{portal.url} answers ({refusal(answer)}), but not as a portal. Check [portal] url."
        yield Diagnosis(part, "wrong", message, "configuration")
    elif (answer.status or 0) >= 500:
        message = f"{portal.url} answers with {refusal(answer)}. Check the portal and the services it needs."
        yield Diagnosis(part, "wrong", message, "target")
    else:
        yield Diagnosis(part, "works", f"a portal answers at {portal.url}")
    yield from _time(portal, answer)


def _time(portal: Portal, answer: Exchange) -> Iterator[Diagnosis]:
    """Whether the clocks agree, as far as a Date header tells; a clock that can be moved is set anyway."""
    date = answer.at("headers.date")
    if not isinstance(date, str) or portal.clock.is_simulated:
        return
    try:
        there = parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return
    ahead = there - answer.time
    if abs(ahead) > SKEW:
        which = "ahead of" if ahead > 0 else "behind"
        message = f"the target's clock is {abs(ahead):.0f} s {which} this machine's: codes may be refused"
        yield Diagnosis("time", "wrong", message, "environment")


def _access_code(portal: Portal) -> Iterator[Diagnosis]:
    """A protected endpoint without a token: past the ingress it is the token that is missing."""
    answer = portal.call(PROFILE)
    part = "portal.access_code"
    if answer.status == 401:
        yield Diagnosis(part, "works", "the ingress accepts requests with this access code")
    elif answer.success:
        yield Diagnosis(
            part, "works", "the ingress accepts it, but a protected endpoint answers without a token"
        )
    else:
        other = portal.call(PROFILE, headers={"X-PORTAL-ACCESS-CODE": None})
        same = (other.status, other.code) == (answer.status, answer.code)
        message = f"a request with this access code is refused ({refusal(answer)})"
        if same:
            message += (
                ", and so is one without it. Check that it is the code of the SYSTEM portal, "
                "and that this address is allowed."
            )
        yield Diagnosis(part, "wrong", message, "credentials" if (answer.status or 0) < 500 else "target")


def _inboxes(portal: Portal) -> Iterator[Diagnosis]:
    for name, settings in portal.profile.inboxes.items():
        emails = [account.email for account in portal.profile.accounts.values() if account.inbox == name]
        if not emails:
            yield Diagnosis(f"inboxes.{name}", "missing", "no account uses it", "configuration")
            continue
        try:
            reader(settings, emails[0], name).mark()
        except Untestable as reason:
            yield Diagnosis(f"inboxes.{name}", "wrong", reason.reason, reason.fault_class)
        else:
            yield Diagnosis(f"inboxes.{name}", "works", "can be read")


def _accounts(portal: Portal) -> Iterator[Diagnosis]:
    for name, purpose in ACCOUNTS.items():
        if not portal.has_account(name):
            message = (
                f"the profile has no [accounts.{name}] ({purpose}); requirements that need it stay untested"
            )
            yield Diagnosis(f"accounts.{name}", "missing", message, "configuration")
    emails: dict[str, str] = {}
    for name, settings in portal.profile.accounts.items():
        other = emails.setdefault(settings.email.lower(), name)
        if other != name:
            message = (
                f"has the email of [accounts.{other}]; each account needs its own, "
                "because runs change [accounts.spare]"
            )
            yield Diagnosis(f"accounts.{name}", "wrong", message, "configuration")
            continue
        yield _account(portal, name)


def _account(portal: Portal, name: str) -> Diagnosis:
    part = f"accounts.{name}"
    try:
        signed_in = portal.account(name).signed_in()
    except Untestable as reason:
        if name == "pending" and "ACCOUNT_PENDING_APPROVAL" in reason.reason:
            return Diagnosis(part, "works", "the target reports at sign-in that it awaits approval")
        return Diagnosis(part, "wrong", reason.reason, reason.fault_class)
    pending = signed_in.completed.at("data.pendingApproval") is True
    if name == "pending":
        if pending or signed_in.initiated.at("data.pendingApproval") is True:
            return Diagnosis(part, "works", f"signs in by {signed_in.factor}, and awaits approval")
        return Diagnosis(part, "wrong", "signs in, but does not await approval", "configuration")
    answer = portal.call(GUARDED, token=signed_in.token)
    if name == "limited" and answer.success:
        message = "has permissions; [accounts.limited] must have none"
        return Diagnosis(part, "wrong", message, "configuration")
    if name == "admin" and answer.status == 403:
        message = f"signs in, but lacks permissions ({refusal(answer)})"
        return Diagnosis(part, "wrong", message, "configuration")
    if pending:
        return Diagnosis(part, "wrong", "awaits approval; it must be active", "configuration")
    return Diagnosis(part, "works", f"signs in by {signed_in.factor}")


def _secure_channel(portal: Portal) -> Iterator[Diagnosis]:
    portal.secure.open()
    readings = ", ".join(f"{name} = {value!r}" for name, value in portal.secure.readings.items())
    is_described = bool(portal.profile.secure_channel.model_fields_set)
    usual = " as the profile says" if is_described else " with what is assumed without [secure_channel]"
    end = f", with {readings} in place of the profile's" if readings else usual
    message = f"opens{end}"
    keys = SecureChannelSettings.model_fields
    learned = {name: value for name, value in portal.secure.readings.items() if name in keys}
    yield Diagnosis("secure_channel", "works", message, learned=learned)


def _bot_challenge(portal: Portal) -> Iterator[Diagnosis]:
    if portal.profile.bot_challenge.token is None:
        message = "the profile has no token; requirements that need the challenge stay untested"
        yield Diagnosis("bot_challenge", "missing", message, "configuration")
        return
    admin = _admin(portal)
    if admin is None:
        message = "not tried: no account that may read transfer orders can sign in"
        yield Diagnosis("bot_challenge", "missing", message, "credentials")
        return
    answer = portal.call(TRANSFER_ORDERS, workspaceId=portal.record("workspace"), token=admin)
    if answer.code == "4030":
        message = f"the token is refused ({refusal(answer)}); check [bot_challenge] token and header"
        yield Diagnosis("bot_challenge", "wrong", message, "credentials")
    else:
        yield Diagnosis("bot_challenge", "works", "the target accepts the token")


def _admin(portal: Portal) -> str | None:
    """The admin's token; None where it cannot sign in, which ``_accounts`` has said by then."""
    try:
        return portal.account("admin").token
    except Untestable:
        return None


def _records(portal: Portal) -> Iterator[Diagnosis]:
    if _admin(portal) is None:
        message = "not looked up: [accounts.admin] cannot sign in"
        yield Diagnosis("records", "missing", message, "credentials")
        return
    for name in Records.model_fields:
        part = f"records.{name}"
        is_in_profile = getattr(portal.profile.records, name) is not None
        try:
            id = portal.record(name)
        except Untestable as reason:
            yield Diagnosis(part, "missing", reason.reason, reason.fault_class)
            continue
        if not is_in_profile:
            yield Diagnosis(part, "works", f"taken from a listing: {id}", learned={name: id})
        else:
            yield _given_record(portal, part, name, id)


def _given_record(portal: Portal, part: str, name: str, id: str) -> Diagnosis:
    if name not in READ_BY:
        return Diagnosis(part, "works", f"from the profile: {id}")
    key, parameter = READ_BY[name]
    path = operation(key).url(**{parameter: quote(id, safe="")})
    answer = portal.get(path, token=portal.account("admin").token)
    if answer.status == 404 or answer.code == "RESOURCE.NOT_FOUND":
        return Diagnosis(part, "wrong", f"the target has no {name} {id} ({refusal(answer)})", "configuration")
    return Diagnosis(part, "works", f"from the profile, and read at the target: {id}")


def _operations(portal: Portal) -> Iterator[Diagnosis]:
    """The bodies that the specification does not show, and that only the profile can."""
    for row in OPERATIONS:
        if not {"N1", "N6"} & set(row.gaps):
            continue
        settings = portal.profile.operations.get(row.key)
        if settings is None or settings.body is None:
            message = (
                "the profile has no body for it; requirements that need more than an empty object "
                "stay untested"
            )
            yield Diagnosis(f'operations."{row.key}"', "missing", message, "configuration")


def _limits(portal: Portal) -> Iterator[Diagnosis]:
    if portal.profile.limits.login_window is None:
        message = (
            f"the profile has no login_window; {portal.budget.window:.0f} s are assumed "
            "until the target reports a window"
        )
        yield Diagnosis("limits.login_window", "missing", message, "configuration")


def _spent(portal: Portal) -> Iterator[Diagnosis]:
    """What the examination itself took of what is scarce: a run that follows finds that much less."""
    begun, mails = portal.budget.initiations, portal.budget.mails
    if begun:
        sign_ins = f"{begun} of the {INITIATIONS} sign-ins of a window were begun"
        codes = f"{mails} {'code was' if mails == 1 else 'codes were'} mailed"
        yield Diagnosis("spent", "works", f"{sign_ins}; {codes}")


def _changes(portal: Portal) -> Iterator[Diagnosis]:
    """Ledgers of earlier runs on this target that list changes which were not restored."""
    lock = target_lock(portal.profile)
    last = str(lock.content().get("note", "")) if lock is not None else ""
    for path in dict.fromkeys((Path(last or LEDGER), Path("reports", LEDGER).absolute())):
        if not path.is_file():
            continue
        try:
            ledger = ChangeLedger.read(path)
        except LedgerError as problem:
            yield Diagnosis("changes", "wrong", str(problem), "suite")
            continue
        if ledger.pending and ledger.target == portal.url:
            message = (
                f"{path} lists {len(ledger.pending)} changes of an earlier run that were not restored. "
                f"Restore them: {cleanup_command(portal, ledger)}"
            )
            yield Diagnosis("changes", "wrong", message, "suite")


CHECKS: tuple[Check, ...] = (
    _target,
    _changes,
    _access_code,
    _inboxes,
    _accounts,
    _secure_channel,
    _bot_challenge,
    _records,
    _operations,
    _limits,
    _spent,
)


GATES = (_target, _access_code)


def as_text(diagnoses: list[Diagnosis], unlocks: Mapping[str, str] | None = None) -> str:
    """The diagnoses as lines: what is wrong first, then what is missing, then what works. ``unlocks`` says by
    part what a missing one would make testable; what would most comes first."""
    order: tuple[State, ...] = ("wrong", "missing", "works")
    gains = unlocks or {}
    width = max((len(diagnosis.part) for diagnosis in diagnoses if len(diagnosis.part) <= 24), default=0)
    places = {part: number for number, part in enumerate(gains)}
    ordered = sorted(diagnoses, key=lambda row: (order.index(row.state), places.get(row.part, len(places))))
    numbers = Counter(diagnosis.state for diagnosis in diagnoses)
    counts = ", ".join(f"{numbers[state]} {state}" for state in order)
    lines = [line for group in _grouped(ordered) for line in _lines(group, width, gains)]
    return "\n".join((*lines, "", counts))


def _grouped(diagnoses: Sequence[Diagnosis]) -> list[list[Diagnosis]]:
    """The diagnoses in their order; many operations with one message are a group."""
    groups: dict[object, list[Diagnosis]] = {}
    for number, row in enumerate(diagnoses):
        is_operation = row.part.startswith("operations.")
        groups.setdefault((row.state, row.message) if is_operation else number, []).append(row)
    return list(groups.values())


def _lines(group: Sequence[Diagnosis], width: int, gains: Mapping[str, str]) -> Iterator[str]:
    first = group[0]
    if len(group) == 1:
        yield _line(first, width, gains.get(first.part))
        return
    yield f"{first.state:<8} {'operations':<{width}}  {len(group)} of them: {first.message}"
    by_gain: dict[str, list[str]] = {}
    for row in group:
        by_gain.setdefault(gains.get(row.part, ""), []).append(row.part.removeprefix("operations."))
    for gain, keys in by_gain.items():
        if gain:
            yield f"{'':<8} {gain}{', each' if len(keys) > 1 else ''}:"
        yield from (f"{'':<{10 if gain else 8}} {key}" for key in keys)


def _line(diagnosis: Diagnosis, width: int, gain: str | None) -> str:
    blame = f"({diagnosis.fault_class}) " if diagnosis.state == "wrong" else ""
    more = f" ({gain})" if gain else ""
    return f"{diagnosis.state:<8} {diagnosis.part:<{width}}  {blame}{diagnosis.message}{more}"


def as_json(diagnoses: list[Diagnosis], unlocks: Mapping[str, str] | None = None) -> str:
    """The diagnoses as a JSON array, in the order in which they were made."""
    rows = []
    for diagnosis in diagnoses:
        row = asdict(diagnosis)
        learned, gain = row.pop("learned"), (unlocks or {}).get(diagnosis.part)
        rows.append(row | ({"learned": learned} if learned else {}) | ({"unlocks": gain} if gain else {}))
    return json.dumps(rows, indent=2, ensure_ascii=False)
