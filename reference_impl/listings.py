"""Three pages of everything that is paged, and a few of everything else."""

from reference_impl.people import DAY, SignIn, account, aged, security
from reference_impl.portal import Portal, Record

PAGED = 45  # two full pages of 20 and a third
FEW = 6


def fill(
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


# Accounts and their sign-ins.


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


# Invitations, grants, channels, files, orders.


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
        portal.add("invitation", aged(portal, "invitation", 30 - at) | invitation)


def _grants(portal: Portal, workspace: str, institution: str) -> None:
    for at, currency in enumerate(("USD", "EUR", "JPY")):
        values = {"institutionBizId": institution, "workspaceBizId": workspace, "currencyCode": currency}
        portal.add(
            "currency grant", aged(portal, "currency grant", 90 - at) | values | {"grantStatus": "ENABLED"}
        )


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
        added = portal.add("channel type", aged(portal, "channel type", 200 - at) | values)
    return str(added["bizId"])


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
            "emailConfig": _email_config(host, password=portal.draw.token()),
            "createdBy": author,
            "updatedBy": author,
        }
        added = portal.add("channel", aged(portal, "channel", 150 - at) | values)
    return str(added["bizId"])


def _email_config(host: str, *, password: str) -> Record:
    return {
        "smtpHost": host,
        "smtpPort": 587,
        "senderEmail": "portal@example.test",
        "senderName": "Portal",
        "username": "portal",
        "password": password,
        "useSsl": False,
        "useStartTls": True,
        "connectionTimeout": 5000,
        "readTimeout": 5000,
    }


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
        added = portal.add("file", aged(portal, "file", 60 - at) | values)
    return str(added["bizId"])


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
            "transfer order",
            aged(portal, "transfer order", age) | _order(portal, workspaces[owner], at, age),
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
