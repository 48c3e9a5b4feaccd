"""What a portal holds when it starts: the platform, who can sign in, and what the listings show."""

from dataclasses import dataclass

from reference_impl.listings import fill
from reference_impl.people import SignIn, aged, sign_in
from reference_impl.portal import Portal
from reference_impl.routes import PERMISSIONS


@dataclass(frozen=True, slots=True)
class Seeded:
    """Who can sign in, and the ids that a profile names."""

    sign_ins: dict[str, SignIn]
    ids: dict[str, str]


def seed(portal: Portal) -> Seeded:
    institution, tenant = _institutions(portal)
    workspace, other = _workspaces(portal, institution, tenant)
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
        ids |= fill(portal, admin, institution=institution, tenant=tenant, workspaces=[workspace, other])
    portal.changes = 0
    return Seeded({s.name: s for s in (admin, spare, limited, pending)}, ids)


# The platform.


def _institutions(portal: Portal) -> tuple[str, str]:
    rows = (("Example Platform", "PLATFORM", "ACTIVE"), ("Example Tenant", "TENANT", "REVIEWING"))
    first, second = (
        aged(portal, "institution", 400)
        | {
            "institutionName": name,
            "institutionDescription": f"{name} of the reference portal",
            "institutionRemark": None,
            "institutionType": kind,
            "institutionStatus": status,
            "extraConfig": None,
        }
        for name, kind, status in rows
    )
    return portal.add("institution", first)["bizId"], portal.add("institution", second)["bizId"]


def _workspaces(portal: Portal, institution: str, tenant: str) -> tuple[str, str]:
    rows = (
        ("Main", "ACTIVE", institution),
        ("Second", "ACTIVE", tenant),
        ("Coming", "PENDING_REVIEW", tenant),
    )
    added = [
        portal.add(
            "workspace",
            aged(portal, "workspace", 390 - at)
            | {
                "institutionBizId": owner,
                "entityBizId": None,
                "workspaceName": name,
                "workspaceTimezone": "UTC",
                "workspaceStatus": status,
                "workspaceKind": "LIVE",
                "extraData": None,
            },
        )["bizId"]
        for at, (name, status, owner) in enumerate(rows)
    ]
    return added[0], added[1]


def _roles(portal: Portal, workspace: str, other: str) -> str:
    """The id of the role that may do everything."""
    for code in PERMISSIONS:
        permission = {
            "permissionCode": code,
            "permissionName": code.replace(":", " "),
            "permissionType": "BUTTON" if code.endswith("write") else "MENU",
            "permissionStatus": "ACTIVE",
        }
        portal.add("permission", aged(portal, "permission", 380) | permission)
    rows: tuple[tuple[str, str, str, list[str]], ...] = (
        ("Reader", "CUSTOM", workspace, [code for code in PERMISSIONS if code.endswith(":read")]),
        ("Guest", "CUSTOM", other, []),
        ("Owner", "OWNER", workspace, list(PERMISSIONS)),
    )
    ids = [
        portal.add(
            "role",
            aged(portal, "role", 380 - at)
            | {
                "workspaceBizId": place,
                "roleName": name,
                "roleType": kind,
                "description": f"{name} of the workspace",
                "permissionCodes": codes,
            },
        )["bizId"]
        for at, (name, kind, place, codes) in enumerate(rows)
    ]
    return str(ids[-1])
