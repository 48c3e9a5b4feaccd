"""Endpoints that anybody may call, asked with any body, and sessions, tokens and keys of nobody."""

from __future__ import annotations

from base64 import b64encode

from cases.authentication.steps import judged, method_of
from cases.nobody import unknown_id
from cases.premises import answered, text
from cases.properties.bodies import ANSWERED, Drawn, bodies, refuses_what_is_no_object
from conformance.cases import (
    INVALID_PARAMETER,
    NO_SESSION,
    Account,
    Portal,
    Search,
    Trial,
    Untestable,
    equal,
    is_error,
    is_invalid_parameter,
    is_refused,
    mark,
    op,
)


@mark.requirement(*ANSWERED, "ERROR-002", "ERROR-016", "TOKEN-015", "TOKEN-023")
def test_a_refresh_with_a_token_of_nobody_is_refused(portal: Portal, search: Search) -> None:
    def refreshes(trial: Trial, drawn: Drawn) -> None:
        answer = judged(portal.call(op.TOKEN_REFRESH, json=drawn.body), NO_SESSION)
        refuses_what_is_no_object(trial, drawn, answer)
        trial.verify("TOKEN-015", is_refused(answer))
        if drawn.is_usual and drawn.has("missing", "refreshToken"):
            trial.verify("TOKEN-023", is_invalid_parameter(answer))

    search.over(
        bodies(op.TOKEN_REFRESH, {"refreshToken": "a-refresh-token-that-nobody-was-given"}), refreshes
    )


@mark.requirement(*ANSWERED, "ERROR-016", "LOGIN-054", "LOGIN-057")
def test_a_code_is_sent_for_no_session_of_nobody(portal: Portal, admin: Account, search: Search) -> None:
    unknown = unknown_id(text(admin.signed_in().initiated, "data.sessionId"))

    def sends(trial: Trial, drawn: Drawn) -> None:
        answer = judged(portal.call(op.LOGIN_MFA_SEND, json=drawn.body, within_budget=False), NO_SESSION)
        refuses_what_is_no_object(trial, drawn, answer)
        trial.verify("LOGIN-054", is_refused(answer))
        if drawn.is_usual and drawn.has("missing", "sessionId"):
            trial.verify("LOGIN-057", is_invalid_parameter(answer))

    search.over(bodies(op.LOGIN_MFA_SEND, {"sessionId": unknown, "method": method_of("EMAIL")}), sends)


@mark.requirement(*ANSWERED, "ERROR-002", "ERROR-016", "LOGIN-058")
def test_no_sign_in_of_nobody_is_completed(portal: Portal, admin: Account, search: Search) -> None:
    unknown = unknown_id(text(admin.signed_in().initiated, "data.sessionId"))

    def completes(trial: Trial, drawn: Drawn) -> None:
        answer = judged(portal.call(op.LOGIN_COMPLETE, json=drawn.body), NO_SESSION)
        refuses_what_is_no_object(trial, drawn, answer)
        if answer.success or (not drawn.flaws and answer.code not in INVALID_PARAMETER):
            trial.verify("LOGIN-058", is_error(answer, NO_SESSION))

    right = {"sessionId": unknown, "method": method_of("OTP"), "code": "000000"}
    search.over(bodies(op.LOGIN_COMPLETE, right), completes)


MISSING = {"keyId": "SECURE-010", "encReqKey": "SECURE-011", "encRespKey": "SECURE-012"}


@mark.requirement(*ANSWERED, "ERROR-016", "SECURE-006", *MISSING.values())
def test_a_secure_session_is_opened_by_nothing_but_its_keys(portal: Portal, search: Search) -> None:
    """The request key is the wrapping of nothing, so that no session is opened. With the older padding a
    library may give random bytes for it, of a key's length now and then."""
    is_random = portal.secure.how("rsa_padding") == "pkcs1v15"
    opened = portal.secure.shared().exchange.request.json
    right = {**opened, "encReqKey": b64encode(bytes(256)).decode()}

    def opens(trial: Trial, drawn: Drawn) -> None:
        answer = answered(portal.call(op.SECURE_SESSION, json=drawn.body))
        if answer.success and not drawn.flaws and is_random:
            raise Untestable("what is no key was decrypted to one by chance", "environment")
        refuses_what_is_no_object(trial, drawn, answer)
        if not drawn.flaws:
            trial.verify("SECURE-006", is_invalid_parameter(answer))
        for field, id in MISSING.items():
            if drawn.is_usual and drawn.has("missing", field):
                trial.verify(id, equal(answer, "status", 400))

    search.over(bodies(op.SECURE_SESSION, right), opens)
