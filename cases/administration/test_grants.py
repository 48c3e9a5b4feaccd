"""Currency grants, made and revoked (chapter "Currency grants, institutions, invitations")."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from cases.changing import Creation, creation
from cases.premises import change_accepted, form, granted, listed, settled
from cases.surroundings import Surroundings, id_of_record
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    impact,
    needs,
    offered,
    requirement,
)
from conformance.spec.endpoints import CURRENCY_GRANT, CURRENCY_GRANT_REVOKE, CURRENCY_GRANTS, INSTITUTION


@requirement("GRANT-003")
def test_grants_are_listed_with_some_fields(portal: Portal, verify: Verify, admin: Account) -> None:
    grants = granted(portal.call(CURRENCY_GRANTS, token=admin.token))
    verify.observe("currency-grant-fields", grants, form(grants.data))


@requirement(
    "GRANT-001",
    "GRANT-002",
    "GRANT-003",
    "MODEL-016",
    offered(CURRENCY_GRANT),
    offered(CURRENCY_GRANT_REVOKE),
)
@needs(CURRENCY_GRANT, CURRENCY_GRANT_REVOKE)
@impact("mutating")
def test_a_grant_is_listed_until_it_is_revoked(portal: Portal, verify: Verify, admin: Account) -> None:
    before = listed(granted(portal.call(CURRENCY_GRANTS, token=admin.token)))
    body = portal.operation_body(CURRENCY_GRANT)
    template = portal.operation_body(CURRENCY_GRANT_REVOKE, result_id="{result_id}")

    with (
        creation(portal, CURRENCY_GRANT, CURRENCY_GRANT_REVOKE, template, by=admin) as grant,
        ExitStack() as further,
    ):
        answer = portal.call(CURRENCY_GRANT, json=body, token=admin.token)
        if not answer.success:
            grant.settled()
        granting = change_accepted(answer)
        verify.observe("currency-grant-fields", granting, form(granting.data))

        listing = settled(
            portal,
            lambda: granted(portal.call(CURRENCY_GRANTS, token=admin.token)),
            lambda answer: any(record not in before for record in listed(answer)),
        )
        new = [record for record in listed(listing) if record not in before]
        verify(
            "GRANT-001",
            holds(listing, "data", len(new) == 1, "one grant more", granting, actual=f"{len(new)} more"),
        )
        grant.came_to(id_of(portal, granting, new))

        with suppress(Untestable):  # a neighbour, where the same may be granted twice
            neighbour = further.enter_context(_granted_again(portal, admin, listed(listing)))
            around = Surroundings(portal, admin.token, shared=True)
            first = change_accepted(neighbour.undo())
            verify("MODEL-016", around.kept(first, (INSTITUTION,), (CURRENCY_GRANTS, neighbour.id or "")))

        around = Surroundings(portal, admin.token, shared=True)
        revoking = change_accepted(grant.undo())
        verify("MODEL-016", around.kept(revoking, *named_by(new)))
        verify.observe("currency-grant-fields", revoking, form(revoking.data))

        listing = settled(
            portal,
            lambda: granted(portal.call(CURRENCY_GRANTS, token=admin.token)),
            lambda answer: not any(record in listed(answer) for record in new),
        )
        still = [record for record in new if record in listed(listing)]
        verify(
            "GRANT-002",
            holds(listing, "data", not still, "not the grant as it was", granting, revoking, actual=still),
        )


@contextmanager
def _granted_again(portal: Portal, admin: Account, before: list[dict[str, Json]]) -> Iterator[Creation]:
    """A second grant, alike but for its id. Raises Untestable where there is none."""
    template = portal.operation_body(CURRENCY_GRANT_REVOKE, result_id="{result_id}")
    with creation(portal, CURRENCY_GRANT, CURRENCY_GRANT_REVOKE, template, by=admin) as grant:
        answer = portal.call(CURRENCY_GRANT, json=portal.operation_body(CURRENCY_GRANT), token=admin.token)
        if not answer.success:
            grant.settled()
        listing = granted(portal.call(CURRENCY_GRANTS, token=admin.token))
        new = [record for record in listed(listing) if record not in before]
        grant.came_to(id_of(portal, change_accepted(answer), new))
        yield grant


def named_by(grants: list[dict[str, Json]]) -> list[tuple[str, ...]]:
    """What a revoked grant changes: itself, and its institution where that has it."""
    return [(INSTITUTION,), *((CURRENCY_GRANTS, id_of_record(grant)) for grant in grants)]


def id_of(portal: Portal, granting: Exchange, new: list[dict[str, Json]]) -> str:
    """Where the profile says it stands in the answer, else as the listing shows it."""
    path = portal.profile.operations[CURRENCY_GRANT].result_id
    result_id = granting.at(path) if path else None
    if isinstance(result_id, str):
        return result_id
    ids = [record[name] for record in new for name in ("bizId", "id") if isinstance(record.get(name), str)]
    if len(ids) != 1:
        raise Untestable(f'the new grant shows no id; see result_id in [operations."{CURRENCY_GRANT}"]')
    return str(ids[0])
