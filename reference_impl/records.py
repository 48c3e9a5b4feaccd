"""What a portal holds when it starts: the platform, who can sign in, and three pages of all that is paged."""

from dataclasses import dataclass

from reference_impl.handlers.notifications import email_config
from reference_impl.people import DAY, SignIn, account, add_aged, aged, security, sign_in
from reference_impl.portal import Portal, Record
from reference_impl.routes import PERMISSIONS

PAGED = 45  # two full pages of 20 and a third
FEW = 6


@dataclass(frozen=True, slots=True)
class Seeded:
    """Who can sign in, and the ids that a profile names."""

    sign_ins: dict[str, SignIn]
    ids: dict[str, str]


def seed(portal: Portal) -> Seeded:
    institution, tenant = _institutions(portal)
    workspace, other, _ = _workspaces(portal, institution, tenant)
    owner = _roles(portal, workspace, other)
    home = {"institutionBizId": institution}
    admin = sign_in(
        portal, "admin", mfa="OTP", **home, roleBizIds=[owner], workspaceBizIds=[workspace, other]
    )
    spare = sign_in(portal, "spare", mfa="EMAIL", **home, roleBizIds=[owner], workspaceBizIds=[workspace])
    limited = sign_in(portal, "limited", mfa="EMAIL", **home)
    pending = sign_in(portal, "pending", mfa="EMAIL", **home, accountStatus="REGISTERED")
    ids = {"workspace": workspace, "other_workspace": other, "institution": institution, "role": owner}
    if not portal.choices.empty_system:
        ids |= _fill(portal, admin, institution=institution, tenant=tenant, workspaces=[workspace, other])
    portal.changes = 0
    return Seeded({s.name: s for s in (admin, spare, limited, pending)}, ids)


# The platform.


def _institutions(portal: Portal) -> list[str]:
    rows = (("Example Platform", "PLATFORM", "ACTIVE"), ("Example Tenant", "TENANT", "REVIEWING"))
    values = (
        {
            "institutionName": name,
            "institutionDescription": f"{name} of the reference portal",
            "institutionRemark": None,
            "institutionType": kind,
            "institutionStatus": status,
            "extraConfig": None,
        }
        for name, kind, status in rows
    )
    return [add_aged(portal, "institution", 400, each) for each in values]


def _workspaces(portal: Portal, institution: str, tenant: str) -> list[str]:
    rows = (
        ("Main", "ACTIVE", institution),
        ("Second", "ACTIVE", tenant),
        ("Coming", "PENDING_REVIEW", tenant),
    )
    values = (
        {
            "institutionBizId": owner,
            "entityBizId": None,
            "workspaceName": name,
            "workspaceTimezone": "UTC",
            "workspaceStatus": status,
            "workspaceKind": "LIVE",
            "extraData": None,
        }
        for name, status, owner in rows
    )
    return [add_aged(portal, "workspace", 390 - at, each) for at, each in enumerate(values)]


def _roles(portal: Portal, workspace: str, other: str) -> str:
    """Adds permissions and roles; returns the id of the role with all permissions."""
    for code in PERMISSIONS:
        permission = {
            "permissionCode": code,
            "permissionName": code.replace(":", " "),
            "permissionType": "BUTTON" if code.endswith("write") else "MENU",
            "permissionStatus": "ACTIVE",
        }
        add_aged(portal, "permission", 380, permission)
    rows: tuple[tuple[str, str, str, list[str]], ...] = (
        ("Reader", "CUSTOM", workspace, [code for code in PERMISSIONS if code.endswith(":read")]),
        ("Guest", "CUSTOM", other, []),
        ("Owner", "OWNER", workspace, list(PERMISSIONS)),
    )
    values = (
        {
            "workspaceBizId": place,
            "roleName": name,
            "roleType": kind,
            "description": f"{name} of the workspace",
            "permissionCodes": codes,
        }
        for name, kind, place, codes in rows
    )
    return [add_aged(portal, "role", 380 - at, each) for at, each in enumerate(values)][-1]


# Listings.


def _fill(
    portal: Portal, admin: SignIn, *, institution: str, tenant: str, workspaces: list[str]
) -> dict[str, str]:
    accounts = _accounts(portal, institution, tenant)
    _history(portal, admin.account_id)
    _invitations(portal, admin, accounts, workspaces)
    _grants(portal, workspaces[0], institution)
    _orders(portal, workspaces)
    return {
        "account": accounts[-1],
        "channel_type": _channel_types(portal),
        "channel": _channels(portal, institution, tenant, admin.account_id),
        "file": _files(portal, admin.account_id),
    }


def _paged(portal: Portal) -> int:
    return FEW if portal.choices.few_records else PAGED


def _accounts(portal: Portal, institution: str, tenant: str) -> list[str]:
    ids = []
    for at in range(_paged(portal) + 5):
        id = account(
            portal,
            f"Person {at:02d}",
            f"person{at:02d}@example.test",
            age=300 - at,
            institutionBizId=tenant if at % 3 else institution,
            accountStatus="REGISTERED" if at % 5 == 1 else "ACTIVE",
            accountPortal="TENANT" if at % 4 == 3 else "SYSTEM",
        )
        security(portal, id, otp_secret=None, primary="EMAIL")
        ids.append(id)
    return ids


def _history(portal: Portal, account: str) -> None:
    now = portal.now()
    portal.history[account] = [
        {
            "bizId": portal.new_id("login history"),
            "loginTime": now - (_paged(portal) - at) * DAY / 3,
            "clientIp": "192.0.2.10",
            "userAgent": "Reference/1.0",
            "loginResult": int(at % 7 != 3),
            "failureReason": "INVALID_CREDENTIALS" if at % 7 == 3 else None,
        }
        for at in range(_paged(portal))
    ]


def _invitations(portal: Portal, admin: SignIn, accounts: list[str], workspaces: list[str]) -> None:
    now = portal.now()
    rows = (
        ("CANCELLED", 3, None),
        ("DECLINED", 3, "Not now"),
        ("EXPIRED", -20, None),
        ("ACCEPTED", 3, "Welcome"),
        ("PENDING", -2, "Too late"),
        ("PENDING", 6, "Join us"),
        ("PENDING", 7, None),
    )
    invitees = [admin.email] * len(rows) + ["person01@example.test", "nobody@example.test"]
    for at, email in enumerate(invitees):
        status, days, message = rows[at % len(rows)]
        invitation = {
            "workspaceBizId": workspaces[at % 2],
            "inviterBizId": accounts[at],
            "inviteeEmail": email,
            "invitationStatus": status,
            "message": message,
            "reason": None,
            "expiresAt": now + days * DAY,
            "acceptedAt": now - DAY if status == "ACCEPTED" else None,
        }
        add_aged(portal, "invitation", 30 - at, invitation)


def _grants(portal: Portal, workspace: str, institution: str) -> None:
    for at, currency in enumerate(("USD", "EUR", "JPY")):
        place = {"institutionBizId": institution, "workspaceBizId": workspace}
        grant = {"currencyCode": currency, "grantStatus": "ENABLED"}
        add_aged(portal, "currency grant", 90 - at, place | grant)


def _channel_types(portal: Portal) -> str:
    """The id of the newest."""
    for at in range(_paged(portal)):
        code = ("EMAIL", "SMS", "WEBHOOK")[at] if at < 3 else f"CUSTOM_{at:02d}"
        values = {
            "typeCode": code,
            "typeValue": 80010101 + at if at < 3 else 80011000 + at,
            "typeName": code.capitalize().replace("_", " "),
            "typeDescription": f"Channel type {at}",
            "typeStatus": "DISABLED" if at % 4 == 2 else "ENABLED",
            "displayOrder": at,
            "iconUrl": None,
            "extraConfig": None,
        }
        newest = add_aged(portal, "channel type", 200 - at, values)
    return newest


def _channels(portal: Portal, institution: str, tenant: str, author: str) -> str:
    """The id of the newest, which is active."""
    for at in range(_paged(portal)):
        host = f"smtp{at:02d}.example.test"
        values = {
            "institutionBizId": tenant if at % 4 == 1 else institution,
            "channelName": f"Channel {at:02d}",
            "channelRemark": None if at % 2 else "Seeded",
            "channelHost": host,
            "channelCategory": "EMAIL",
            "channelStatus": "INACTIVE" if at % 3 == 1 else "ACTIVE",
            "emailConfig": email_config(host, sender="Portal", password=portal.draw.token()),
            "createdBy": author,
            "updatedBy": author,
        }
        newest = add_aged(portal, "channel", 150 - at, values)
    return newest


def _files(portal: Portal, author: str) -> str:
    for at in range(3):
        values = {
            "bucket": "portal-files",
            "objectKey": f"{portal.draw.token()}.pdf",
            "originalFilename": f"statement-{at}.pdf",
            "fileSize": 5_000_000_000 + at,
            "contentType": "application/pdf",
            "fileCategory": "DOCUMENT",
            "fileStatus": "UPLOADED",
            "etag": portal.draw.bytes(16).hex(),
            "remark": "",
            "createdBy": author,
        }
        newest = add_aged(portal, "file", 60 - at, values)
    return newest


# status, statusName, failureReason
COMPLETED = (2, "COMPLETED", None)
FAILED = (3, "FAILED", "Insufficient funds")
PROCESSING = (1, "PROCESSING", None)


def _orders(portal: Portal, workspaces: list[str]) -> None:
    """For the first workspace 25 older than the default range and 65 within it; a few for the second.

    The newest is a day old, so that whether it was made today does not depend on the time of day.
    """
    old, new = (2, 5) if portal.choices.few_records else (25, 65)
    ages = [(0, 31.5 + 2 * at) for at in range(old)] + [(0, 1.0 + 0.44 * at) for at in range(new)]
    ages += [(1, 0.75 + at) for at in range(7)]
    for at, (owner, age) in enumerate(sorted(ages, key=lambda row: -row[1])):
        portal.add(
            "transfer order", aged(portal, "transfer order", age) | _order(portal, workspaces[owner], at, age)
        )


def _order(portal: Portal, workspace: str, at: int, age: float) -> Record:
    """Amounts are multiples of a quarter, so that sums are exact."""
    unfinished = portal.choices.unfinished_orders and at % 6 == 2
    status, name, reason = PROCESSING if unfinished else FAILED if at % 5 == 3 else COMPLETED
    amount, fee = 100 + at * 12.75, 0.25 * (1 + at % 8)
    created = portal.now() - age * DAY
    return {
        "workspaceBizId": workspace,
        "fromWalletId": portal.new_id("wallet"),
        "toWalletId": portal.new_id("wallet"),
        "currency": ("USD", "EUR", "JPY")[at % 3],
        "amount": amount,
        "feeAmount": fee,
        "totalAmount": amount + fee,
        "status": status,
        "statusName": name,
        "failureReason": reason,
        "remark": f"Order {at}",
        "completedAt": None if unfinished else created + 60 + at,
    }
