"""A login session that several requests complete at the same moment (chapter "Moves that are stated")."""

from __future__ import annotations

from cases.at_once import at_once, successes
from cases.authentication.steps import an_account, begun, completed, factor_for, right_code
from cases.premises import refusal_text
from conformance.cases import HELD, Portal, Steps, Untestable, Verify, is_refused, mark

COMPLETIONS = 3


@mark.requirement("LOGIN-031")
@mark.impact("disruptive")
@mark.sign_ins(1)
def test_a_login_session_is_used_up_by_one_of_several_completions(portal: Portal, verify: Verify) -> Steps:
    """The same pair of tokens in several answers is one sign-in: a portal may recognise a request that is
    repeated."""
    account = an_account(portal, "limited", "spare", "admin")
    session = begun(portal, account)
    factor = factor_for(account, session, preferring="EMAIL")
    code = yield from right_code(portal, account, session, factor)
    answers = at_once(COMPLETIONS, lambda: completed(portal, session, factor, code))
    pairs = {str(answer.at("data.accessToken")): answer for answer in successes(answers)}
    if not pairs:
        raise Untestable(f"the sign-in could not be completed ({refusal_text(answers[0])})", "target")
    first, *further = pairs.values()
    for token in pairs:
        portal.login.logout(token)
    message = "requests at the same moment completed one login session several times"
    verify("LOGIN-031", is_refused(further[0], first, message=message) if further else HELD)
