"""The parts of a profile beside its address: accounts, channel, challenge, records, bodies and limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from conformance.errors import LedgerError, Untestable
from conformance.spec.endpoints import ACCOUNT, COUNTRIES, FILE, INSTITUTION, ROLE, TRANSFER_ORDERS
from conformance.spec.operations import OPERATIONS, operation
from conformance.spec.tables import CHALLENGE_FAILED
from conformance.target.doctor.diagnosis import Diagnosis
from conformance.target.locks import target_lock
from conformance.target.portal import Portal, SignedIn
from conformance.target.portal.budget import INITIATIONS
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.inboxes import InboxFailure, reader
from conformance.target.portal.login import refusal
from conformance.target.portal.restoring.restore import cleanup_command
from conformance.target.profile.tables import ACCOUNTS, Records, SecureChannelSettings
from conformance.traffic.exchange import Exchange

READ_BY = {
    "role": (ROLE, "roleBizId"),
    "institution": (INSTITUTION, "institutionBizId"),
    "file": (FILE, "fileBizId"),
    "account": (ACCOUNT, "userBizId"),
}
"""The endpoints that read one record of a kind."""


def check_secure_channel(portal: Portal) -> Iterator[Diagnosis]:
    portal.secure.open()
    readings = ", ".join(f"{name} = {value!r}" for name, value in portal.secure.readings.items())
    is_described = bool(portal.profile.secure_channel.model_fields_set)
    usual = " as the profile says" if is_described else " with what is assumed without [secure_channel]"
    end = f", with {readings} in place of the profile's" if readings else usual
    message = f"opens{end}"
    keys = SecureChannelSettings.model_fields
    learned = {name: value for name, value in portal.secure.readings.items() if name in keys}
    yield Diagnosis("secure_channel", "works", message, learned=learned)


def check_bot_challenge(portal: Portal) -> Iterator[Diagnosis]:
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
    if answer.code == CHALLENGE_FAILED:
        message = f"the token is refused ({refusal(answer)}); check [bot_challenge] token and header"
        yield Diagnosis("bot_challenge", "wrong", message, "credentials")
    else:
        yield Diagnosis("bot_challenge", "works", "the target accepts the token")


def _admin(portal: Portal) -> str | None:
    """The admin's token; None where it cannot sign in, which ``check_accounts`` has said by then."""
    try:
        return portal.account("admin").token
    except Untestable:
        return None


def check_records(portal: Portal) -> Iterator[Diagnosis]:
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
            learned = {} if name == "account" else {name: id}  # a run signs in by the account that it reads
            yield Diagnosis(part, "works", f"taken from a listing: {id}", learned=learned)
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


def check_operations(portal: Portal) -> Iterator[Diagnosis]:
    """Diagnoses request bodies that the specification leaves out and the profile must supply."""
    for row in OPERATIONS:
        if not {"N1", "N6"} & set(row.gaps):
            continue
        settings = portal.profile.operations.get(row.key)
        if settings is None or settings.body is None:
            untested = "requirements that need more than an empty object stay untested"
            message = f"the profile has no body for it; {untested}"
            yield Diagnosis(f'operations."{row.key}"', "missing", message, "configuration")


def check_limits(portal: Portal) -> Iterator[Diagnosis]:
    if portal.profile.limits.login_window is None:
        assumed = f"{portal.budget.window:.0f} s are assumed until the target reports a window"
        message = f"the profile has no login_window; {assumed}"
        yield Diagnosis("limits.login_window", "missing", message, "configuration")


def check_spent(portal: Portal) -> Iterator[Diagnosis]:
    """What the examination itself took of what is scarce: a run that follows finds that much less."""
    begun, mails = portal.budget.initiations, portal.budget.mails
    if begun:
        sign_ins = f"doctor began {begun} of the {INITIATIONS} sign-ins that a window allows"
        codes = f"{mails} {'code was' if mails == 1 else 'codes were'} mailed for it"
        yield Diagnosis("sign-ins", "works", f"{sign_ins}; {codes}")


def check_changes(portal: Portal) -> Iterator[Diagnosis]:
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


GUARDED = COUNTRIES
PENDING = "pending"


def check_inboxes(portal: Portal) -> Iterator[Diagnosis]:
    """Whether each inbox can be read; whether a code arrives there is seen when an account signs in."""
    if not any(account.inbox for account in portal.profile.accounts.values()):
        message = "no account has an inbox; requirements about mailed codes stay untested"
        yield Diagnosis("inboxes", "missing", message, "configuration")
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


def check_accounts(portal: Portal) -> Iterator[Diagnosis]:
    for name, purpose in ACCOUNTS.items():
        if not portal.has_account(name):
            message = (
                f"the profile has no [accounts.{name}] ({purpose}); requirements that need it stay untested"
            )
            yield Diagnosis(f"accounts.{name}", "missing", message, "configuration")
    emails: dict[str, str] = {}
    failed: set[str] = set()
    for name, settings in portal.profile.accounts.items():
        other = emails.setdefault(settings.email.lower(), name)
        if other != name:
            message = (
                f"has the email of [accounts.{other}]; each account needs its own, "
                "because runs change [accounts.spare]"
            )
            yield Diagnosis(f"accounts.{name}", "wrong", message, "configuration")
            continue
        if settings.inbox in failed and portal.account(name).mfa == "EMAIL":
            message = f"not tried: its code comes by [inboxes.{settings.inbox}], which must work first"
            yield Diagnosis(f"accounts.{name}", "missing", message, "configuration")
            continue
        try:
            yield _account(portal, name)
        except InboxFailure as reason:
            failed.add(settings.inbox or "")
            yield Diagnosis(f"accounts.{name}", "wrong", reason.reason, reason.fault_class)


def _account(portal: Portal, name: str) -> Diagnosis:
    """What an account can do. Raises InboxFailure where its inbox gives no code."""
    part = f"accounts.{name}"
    try:
        signed_in = portal.account(name).signed_in()
    except InboxFailure:
        raise
    except Untestable as reason:
        if name == PENDING and "ACCOUNT_PENDING_APPROVAL" in reason.reason:
            return Diagnosis(part, "works", "the target reports at sign-in that it awaits approval")
        return Diagnosis(part, "wrong", reason.reason, reason.fault_class)
    problem = _account_problem(portal, signed_in)
    if problem is not None:
        return Diagnosis(part, "wrong", problem, "configuration")
    more = ", and awaits approval" if name == PENDING else ""
    if name == "spare" and portal.profile.accounts[name].otp_secret is not None:
        more = "; a run leaves an authenticator in use alone, so that MFA-009 and similar rules stay untested"
    return Diagnosis(part, "works", f"signs in by {signed_in.factor}{more}")


def _account_problem(portal: Portal, signed_in: SignedIn) -> str | None:
    """What keeps an account from standing for those that await approval, or that are active."""
    name = signed_in.account
    if name == PENDING:
        if _awaits_approval(signed_in.initiated) or _awaits_approval(signed_in.completed):
            return None
        return "signs in, but does not await approval. Enter one that does, or remove this table."
    answer = portal.call(GUARDED, token=signed_in.token)
    if name == "limited" and answer.success:
        return "has permissions; [accounts.limited] must have none"
    if name == "admin" and answer.status == 403:
        return f"signs in, but lacks permissions ({refusal(answer)}). Enter an account that may read."
    if _awaits_approval(signed_in.completed):
        return "awaits approval; it must be active"
    return None


def _awaits_approval(answer: Exchange) -> bool:
    """Whether an answer of the sign-in says so, by either name that the specification gives."""
    return any(answer.at(f"data.{name}") is True for name in ("pendingApproval", "isPendingApproval"))
