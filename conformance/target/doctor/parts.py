"""The parts of a profile beside its address and accounts: channel, challenge, records, bodies and limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from conformance.errors import LedgerError, Untestable
from conformance.spec.endpoints import ACCOUNT, FILE, INSTITUTION, ROLE, TRANSFER_ORDERS
from conformance.spec.operations import OPERATIONS, operation
from conformance.spec.tables import CHALLENGE_FAILED
from conformance.target.doctor.diagnosis import Diagnosis
from conformance.target.locks import target_lock
from conformance.target.portal import Portal
from conformance.target.portal.budget import INITIATIONS
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.login import refusal
from conformance.target.portal.restoring import cleanup_command
from conformance.target.profile.tables import Records, SecureChannelSettings

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


def check_operations(portal: Portal) -> Iterator[Diagnosis]:
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


def check_limits(portal: Portal) -> Iterator[Diagnosis]:
    if portal.profile.limits.login_window is None:
        message = (
            f"the profile has no login_window; {portal.budget.window:.0f} s are assumed "
            "until the target reports a window"
        )
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
