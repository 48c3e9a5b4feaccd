"""What a request brings about, where the document leaves it to the portal (several chapters)."""

from typing import Any

from reference_impl.changes import rewritten, together
from reference_impl.faults.fault import asked, objects, on_success, reported
from reference_impl.faults.operations import INVITATIONS, ORDERS, OWN_INVITATIONS
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, day_of, may
from reference_impl.wrappers import Seen


def _by_time_only(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "sort" or value.startswith("createdAt")}


def _end_of_day(value: Any) -> Any:
    return value if value is None else f"{day_of(value)}T23:59:59.999Z"


def _sent_in_part(seen: Seen, data: Any) -> None:
    """A list of what was sent shows neither message nor inviter, and the addresses masked."""
    for record in objects(data, "[]"):
        name, _, host = record["inviteeEmail"].partition("@")
        record |= {"message": None, "inviterBizId": None, "inviteeEmail": f"{name[:1]}***@{host}"}


VARIANTS: tuple[Variant, ...] = (
    may(
        "orders-are-sorted-by-time-only",
        "by which fields orders can be sorted is not stated",
        asked(ORDERS, _by_time_only),
        "sort",
    ),
    may(
        "invitations-end-with-their-day",
        "that an invitation ends at the hour it was made is not stated",
        together(
            (
                reported(INVITATIONS, "[]", expiresAt=_end_of_day),
                reported(OWN_INVITATIONS, "[]", expiresAt=_end_of_day),
            )
        ),
        "expiry",
    ),
    may(
        "invitations-sent-are-shown-in-part",
        "the fields of the invitations that were sent are not shown",
        rewritten(on_success(_sent_in_part), INVITATIONS),
        "sent-invitations",
    ),
)
