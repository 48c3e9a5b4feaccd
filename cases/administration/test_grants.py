"""Currency grants, made and revoked (chapter "Currency grants, institutions, invitations")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from cases.changing import Creation, creation
from cases.notifications.making import differences
from cases.premises import change_accepted, form, granted, listed, settled, time_to_settle
from cases.surroundings import Surroundings, id_of_record
from conformance.cases import (
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    mark,
    offered,
    op,
)


@mark.requirement("GRANT-003")
def test_grants_are_listed_with_some_fields(portal: Portal, verify: Verify, admin: Account) -> None:
    grants = granted(portal.call(op.CURRENCY_GRANTS, token=admin.token))
    verify.observe("currency-grant-fields", grants, form(grants.data))


@dataclass(frozen=True)
class Granted:
    """A grant by the profile's body: the answer, the listing afterwards, and what was listed before."""

    portal: Portal
    making: Creation
    answer: Exchange
    listing: Exchange
    before: list[dict[str, Json]]

    @property
    def new(self) -> list[dict[str, Json]]:
        """What was not listed before. A field may move by itself: of several those of a new id."""
        other = [record for record in listed(self.listing) if record not in self.before]
        ids = {id_of_record(record) for record in self.before}
        unknown = [record for record in other if id_of_record(record) not in ids]
        return unknown if len(other) > 1 and unknown else other

    def is_one_more(self) -> Comparison:
        """Raises Untestable where grants are no objects: what a listing holds is not shown."""
        if isinstance(self.listing.data, list) and not all(
            isinstance(each, dict) for each in self.listing.data
        ):
            self.identify()
            raise Untestable("the target lists grants that are no objects", "target")
        number = len(self.new)
        return holds(
            self.listing, "data", number == 1, "one grant more", self.answer, actual=f"{number} more"
        )

    def is_as_sent(self) -> Comparison:
        """Fields of a grant that are named as those of the request (N1)."""
        sent = self.answer.sent if isinstance(self.answer.sent, dict) else {}
        other = {name: value for record in self.new for name, value in differences(record, sent).items()}
        right = {name: sent.get(name) for name in other}
        return holds(self.listing, "data", not other, right, self.answer, actual=other)

    def identify(self) -> None:
        """Raises Untestable where neither the answer nor the listing shows its id, or it was there before."""
        id = id_of(self.portal, self.answer, self.new)
        if not self.new and any(id in record.values() for record in self.before):
            self.making.settled()
            raise Untestable("the portal answers with the grant that there is", "target")
        self.making.came_to(id)


def grants_once(
    portal: Portal, admin: Account, shows: Callable[[list[dict[str, Json]]], bool] = lambda grants: True
) -> Exchange:
    """The listing of grants; once more after a while where it does not show a change yet."""
    return settled(
        portal,
        lambda: granted(portal.call(op.CURRENCY_GRANTS, token=admin.token)),
        lambda answer: shows(listed(answer)),
    )


@contextmanager
def granting(portal: Portal, admin: Account) -> Iterator[Granted]:
    """A grant that is revoked afterwards. Raises Untestable where none is made."""
    before = listed(grants_once(portal, admin))
    template = portal.operation_body(op.CURRENCY_GRANT_REVOKE, result_id="{result_id}")
    body = portal.operation_body(op.CURRENCY_GRANT)
    with creation(portal, op.CURRENCY_GRANT, template, by=admin) as making:
        time_to_settle(portal)
        answer = portal.call(op.CURRENCY_GRANT, json=body, token=admin.token)
        if not answer.success:
            making.settled()
        change_accepted(answer)
        listing = grants_once(portal, admin, lambda grants: any(record not in before for record in grants))
        yield Granted(portal, making, answer, listing, before)


@mark.requirement(
    "GRANT-001",
    "GRANT-002",
    "GRANT-003",
    "GRANT-004",
    "MODEL-016",
    offered(op.CURRENCY_GRANT),
    offered(op.CURRENCY_GRANT_REVOKE),
)
@mark.needs(op.CURRENCY_GRANT, op.CURRENCY_GRANT_REVOKE)
@mark.impact("mutating")
def test_a_grant_is_listed_until_it_is_revoked(portal: Portal, verify: Verify, admin: Account) -> None:
    with granting(portal, admin) as grant, ExitStack() as further:
        verify.observe("currency-grant-fields", grant.answer, form(grant.answer.data))
        verify("GRANT-001", grant.is_one_more())
        verify("GRANT-004", grant.is_as_sent())
        grant.identify()

        with suppress(Untestable):  # a neighbour, where the same may be granted twice
            neighbour = further.enter_context(granting(portal, admin))
            neighbour.identify()
            around = Surroundings(portal, admin.token, shared=True)
            first = change_accepted(neighbour.making.undo())
            around.judged(
                verify, "MODEL-016", first, (op.INSTITUTION,), (op.CURRENCY_GRANTS, neighbour.making.id or "")
            )

        around = Surroundings(portal, admin.token, shared=True)
        revoking = change_accepted(grant.making.undo())
        around.judged(verify, "MODEL-016", revoking, *named_by(grant.new))
        verify.observe("currency-grant-fields", revoking, form(revoking.data))

        listing = grants_once(portal, admin, lambda grants: not any(record in grants for record in grant.new))
        still = [record for record in grant.new if record in listed(listing)]
        gone, steps = "the grant gone, or shown as revoked", (grant.answer, revoking)
        verify("GRANT-002", holds(listing, "data", not still, gone, *steps, actual=still))
    with suppress(Untestable), granting(portal, admin) as again:  # where it may be granted once more
        verify("GRANT-001", again.is_one_more())
        again.identify()


def named_by(grants: list[dict[str, Json]]) -> list[tuple[str, ...]]:
    """What a revoked grant changes: itself, and its institution where that has it."""
    return [(op.INSTITUTION,), *((op.CURRENCY_GRANTS, id_of_record(grant)) for grant in grants)]


def id_of(portal: Portal, granting: Exchange, new: list[dict[str, Json]]) -> str:
    """Where the profile says it stands in the answer, else as the listing shows it."""
    path = portal.profile.operations[op.CURRENCY_GRANT].result_id
    result_id = granting.at(path) if path else None
    if isinstance(result_id, str):
        return result_id
    ids = [record[name] for record in new for name in ("bizId", "id") if isinstance(record.get(name), str)]
    if len(ids) != 1:
        raise Untestable(f'the new grant shows no id; see result_id in [operations."{op.CURRENCY_GRANT}"]')
    return str(ids[0])
