from reference_impl.routes import PERMISSIONS
from reference_impl.tests.client import Client

ROLES = "/web/v1/system/roles"


def test_roles_are_listed_and_found(admin: Client) -> None:
    listed = admin.get(ROLES)

    assert {role["roleName"] for role in listed} == {"Owner", "Reader", "Guest"}
    for role in listed:
        assert admin.get(f"{ROLES}/{role['bizId']}") == role


def test_roles_of_the_workspace_named_are_listed(admin: Client) -> None:
    other = admin.seeded.ids["other_workspace"]

    assert [role["roleName"] for role in admin.but(X_Workspace_Id=other).get(ROLES)] == ["Guest"]


def test_the_permissions_of_a_role_are_its_own(admin: Client) -> None:
    listed = admin.get(f"{ROLES}/{admin.seeded.ids['role']}/permissions")

    assert {item["permissionCode"] for item in listed} == set(PERMISSIONS)
    assert {item["permissionStatus"]["value"] for item in listed} == {13010201}
