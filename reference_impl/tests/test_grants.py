from typing import Any

from reference_impl.tests.client import NOT_FOUND, Client, refusal_of

GRANTS = "/web/v1/system/currency-grants"
INVITATIONS = "/web/v1/system/invitations"


def test_a_grant_is_listed_until_it_is_revoked(admin: Client) -> None:
    created = admin.post(GRANTS, {"currencyCode": "SGD"})

    assert admin.get(GRANTS)[0] == created

    admin.post(f"{GRANTS}/revoke", {"bizId": created["bizId"]})

    assert created["bizId"] not in {grant["bizId"] for grant in admin.get(GRANTS)}
    assert refusal_of(admin.send(f"{GRANTS}/revoke", {"bizId": created["bizId"]})) == NOT_FOUND


def test_a_grant_is_seen_in_its_workspace_only(admin: Client) -> None:
    other = admin.seeded.ids["other_workspace"]
    created = admin.post(GRANTS, {"currencyCode": "SGD", "workspaceBizId": other})

    assert admin.but(X_Workspace_Id=other).get(GRANTS) == [created]


def test_an_institution_is_found_by_its_id(admin: Client) -> None:
    id = admin.seeded.ids["institution"]

    assert admin.get(f"/web/v1/system/institutions/{id}")["institutionStatus"]["value"] == 10010403
    assert refusal_of(admin.ask("GET", "/web/v1/system/institutions/unknown")) == NOT_FOUND


def test_an_invitation_is_sent_listed_and_cancelled(client: Client) -> None:
    admin, spare = client.signed_in("admin"), client.signed_in("spare")
    body = {"inviteeEmail": "spare@example.test", "message": "Come", "expirationDays": 3}
    created = admin.post(INVITATIONS, body)

    assert listed(admin)[created["bizId"]]["invitationStatus"]["code"] == "PENDING"
    mine = spare.get("/web/v1/system/profile/invitations")
    assert [(item["bizId"], item["canAccept"], item["message"]) for item in mine] == [
        (created["bizId"], True, "Come")
    ]

    admin.post(f"{INVITATIONS}/cancel", {"invitationBizId": created["bizId"], "reason": "A mistake"})

    assert listed(admin)[created["bizId"]]["invitationStatus"]["code"] == "CANCELLED"
    body = {"invitationBizId": created["bizId"]}
    refused = spare.send("/web/v1/system/profile/invitations/accept", body)
    assert refusal_of(refused) == (409, "INVITATION.NOT_OPEN")


def listed(client: Client) -> dict[str, dict[str, Any]]:
    return {item["bizId"]: item for item in client.get(INVITATIONS)}
