import pytest

from reference_impl.tests.client import INVALID, NOT_FOUND, Client, refusal_of

PROFILE = "/web/v1/system/profile"
INVITATIONS = f"{PROFILE}/invitations"
WORKSPACES = "/web/v1/system/workspaces"
CLOSED = (409, "INVITATION.NOT_OPEN")
STATUS = {"PENDING": 10050301, "ACCEPTED": 10050302, "DECLINED": 10050303, "EXPIRED": 10050304}


def test_an_update_sticks_and_is_seen_by_the_administrator(admin: Client) -> None:
    values = {
        "accountName": "Another name",
        "accountPhone": "+44 20 5550 100",
        "defaultLanguage": "ja",
        "defaultTimezone": "ASIA_TOKYO",
        "defaultCountry": "JP",
    }
    updated = admin.post(f"{PROFILE}/update", values)

    assert values.items() <= updated.items()
    assert admin.get(PROFILE) == updated
    assert admin.get(f"/web/v1/system/accounts/admin/{updated['bizId']}") == updated


def test_an_update_changes_only_what_it_names(admin: Client) -> None:
    before = admin.get(PROFILE)
    after = admin.post(f"{PROFILE}/update", {"defaultCountry": "JP"})

    assert {name for name in before if before[name] != after[name]} == {"defaultCountry", "updatedAt"}


# Invitations.


def test_only_pending_invitations_can_be_accepted(admin: Client) -> None:
    listed = admin.get(INVITATIONS)

    assert {item["invitationStatus"]["code"] for item in listed} == {*STATUS, "CANCELLED"}
    assert all(item["canAccept"] is (item["invitationStatus"]["code"] == "PENDING") for item in listed)
    assert {item["inviteeEmail"] for item in listed} == {"admin@example.test"}


@pytest.mark.parametrize("statuses", [[10050301], [10050302, 10050304], ["10050301,10050303"], [10050305]])
def test_statuses_narrow_the_list(admin: Client, statuses: list[object]) -> None:
    wanted = {int(value) for item in statuses for value in str(item).split(",")}
    listed = admin.get(INVITATIONS, statuses=statuses)

    assert {item["invitationStatus"]["value"] for item in listed} == wanted


def test_an_unknown_status_is_invalid(admin: Client) -> None:
    assert refusal_of(admin.ask("GET", INVITATIONS, params={"statuses": 1})) == INVALID


def test_an_accepted_invitation_is_accepted_for_good(admin: Client) -> None:
    id = one(admin, "PENDING")
    admin.post(f"{INVITATIONS}/accept", {"invitationBizId": id})
    accepted = next(item for item in admin.get(INVITATIONS) if item["bizId"] == id)

    assert (accepted["invitationStatus"]["code"], accepted["canAccept"]) == ("ACCEPTED", False)
    assert accepted["acceptedAt"] is not None
    assert refusal_of(admin.send(f"{INVITATIONS}/accept", {"invitationBizId": id})) == CLOSED


@pytest.mark.parametrize("status", ["ACCEPTED", "DECLINED", "EXPIRED", "CANCELLED"])
@pytest.mark.parametrize("verb", ["accept", "decline"])
def test_a_closed_invitation_moves_no_more(admin: Client, status: str, verb: str) -> None:
    body = {"invitationBizId": one(admin, status), "reason": "Too late"}

    assert refusal_of(admin.send(f"{INVITATIONS}/{verb}", body)) == CLOSED


def test_a_declined_invitation_cannot_be_accepted(admin: Client) -> None:
    id = one(admin, "PENDING")
    admin.post(f"{INVITATIONS}/decline", {"invitationBizId": id, "reason": "No"})

    assert refusal_of(admin.send(f"{INVITATIONS}/accept", {"invitationBizId": id})) == CLOSED


def test_an_invitation_expires_with_time(client: Client) -> None:
    pending = [item["bizId"] for item in client.signed_in().get(INVITATIONS, statuses=STATUS["PENDING"])]
    client.advance(8 * 86400)
    admin = client.signed_in()
    expired = {item["bizId"] for item in admin.get(INVITATIONS, statuses=STATUS["EXPIRED"])}

    assert set(pending) <= expired
    assert refusal_of(admin.send(f"{INVITATIONS}/accept", {"invitationBizId": pending[0]})) == CLOSED


def test_nobody_accepts_the_invitation_of_another(client: Client) -> None:
    id = one(client.signed_in("admin"), "PENDING")
    spare = client.signed_in("spare")

    assert refusal_of(spare.send(f"{INVITATIONS}/accept", {"invitationBizId": id})) == NOT_FOUND
    assert spare.get(INVITATIONS) == []


def test_an_accepted_invitation_makes_a_member(client: Client) -> None:
    other = client.seeded.ids["other_workspace"]
    admin, limited = client.signed_in("admin"), client.signed_in("limited")
    sent = admin.but(X_Workspace_Id=other).post(
        "/web/v1/system/invitations", {"inviteeEmail": "limited@example.test", "message": "Come"}
    )

    assert limited.get(f"{WORKSPACES}/mine") == []

    limited.post(f"{INVITATIONS}/accept", {"invitationBizId": sent["bizId"]})

    assert [workspace["bizId"] for workspace in limited.get(f"{WORKSPACES}/mine")] == [other]
    assert limited.get(f"{WORKSPACES}/current")["bizId"] == other


# Workspaces.


def test_the_current_workspace_is_the_one_named_or_the_first(admin: Client) -> None:
    ids = admin.seeded.ids

    assert admin.get(f"{WORKSPACES}/current")["bizId"] == ids["workspace"]
    named = admin.but(X_Workspace_Id=ids["other_workspace"])
    assert named.get(f"{WORKSPACES}/current")["bizId"] == ids["other_workspace"]


def test_no_current_workspace_is_told_by_a_code_that_is_its_message(client: Client) -> None:
    limited = client.signed_in("limited")
    admin = client.signed_in("admin").but(X_Workspace_Id="unknown", Accept_Language="ja")

    for caller in (limited, admin):
        refused = caller.ask("GET", f"{WORKSPACES}/current")

        assert refusal_of(refused) == (400, "GA2031")
        assert refused.json()["message"] == "GA2031"


def one(client: Client, status: str) -> str:
    """The id of an invitation of the caller in that state."""
    listed = client.get(INVITATIONS)
    return str(next(item["bizId"] for item in listed if item["invitationStatus"]["code"] == status))
