"""Initiate: bodies of any kind, with texts at and around the bounds of their lengths.

Each takes one of the ten sign-ins of a window, so that this is tried only where time can be moved.
"""

from __future__ import annotations

from cases.authentication.steps import WRONG_CREDENTIALS, address_of, judged, nobody
from cases.properties.bodies import ANSWERED, Drawn, bodies, refuses_what_is_no_object
from conformance.cases import (
    LIMITS,
    Portal,
    Search,
    Trial,
    is_invalid_parameter,
    is_not_invalid_parameter,
    is_refused,
    mark,
    op,
)

REFUSED = {
    ("missing", "email"): "LOGIN-043",
    ("missing", "password"): "LOGIN-044",
    ("short", "password"): "LOGIN-047",
    ("long", "password"): "LOGIN-048",
    ("long", "email"): "LOGIN-051",
    ("unknown", "suiteUnknown"): "LOGIN-053",
}
"""What surely makes a body invalid, and by which requirement."""

SHORTEST, LONGEST = "LOGIN-049", "LOGIN-050"


def password_of(letter: str, length: int) -> str:
    """A password of so many characters that is nobody's."""
    return f"Wr0ng-!{letter * length}"[:length] if length > 7 else letter * length


@mark.requirement(
    *ANSWERED, "ERROR-001", "ERROR-016", "LOGIN-041", "LOGIN-052", *REFUSED.values(), SHORTEST, LONGEST
)
@mark.needs("clock")
@mark.sign_ins(8)
def test_initiate_takes_texts_within_their_bounds_and_nothing_else(portal: Portal, search: Search) -> None:
    right = {"email": nobody(portal), "password": portal.wrong_password()}

    def initiates(trial: Trial, drawn: Drawn) -> None:
        password = drawn.body.get("password") if isinstance(drawn.body, dict) else None
        if isinstance(password, str):
            # No secret: one of a single letter would be found all over each long text.
            portal.secrets.made_up(password)
        answer = judged(portal.call(op.LOGIN_INITIATE, json=drawn.body), WRONG_CREDENTIALS)
        refuses_what_is_no_object(trial, drawn, answer)
        trial.verify("LOGIN-041", is_refused(answer))
        if not drawn.is_usual:
            return
        wrong = [id for (kind, field), id in REFUSED.items() if drawn.has(kind, field)]
        for id in wrong:
            trial.verify(id, is_invalid_parameter(answer))
        # Whether other letters are taken at all is not stated.
        if len(drawn.flaws) == 1 and drawn.has("edge", "password") and drawn.body["password"].isascii():
            is_short = len(drawn.body["password"]) <= LIMITS.password_min + 1
            trial.verify(SHORTEST if is_short else LONGEST, is_not_invalid_parameter(answer))
        if len(drawn.flaws) == 1 and drawn.has("edge", "email"):
            trial.verify("LOGIN-052", is_not_invalid_parameter(answer))

    texts = {"password": password_of, "email": lambda letter, length: address_of(length)}
    search.over(bodies(op.LOGIN_INITIATE, right, texts=texts), initiates)
