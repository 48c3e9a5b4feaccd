"""Whether a portal answers at the profile's address, and lets requests in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from conformance.errors import NoAnswer, NotTls, SuiteError, Untestable
from conformance.spec.endpoints import PROFILE, PUBLIC_KEY
from conformance.spec.tables import TOKEN_REFUSED
from conformance.target.clock import Clock
from conformance.target.doctor.diagnosis import Diagnosis
from conformance.target.portal import Portal
from conformance.target.portal.availability import silence_advice
from conformance.target.portal.channel import clock_offset, clock_problem
from conformance.target.portal.ingress import MISMATCH
from conformance.target.portal.login import refusal
from conformance.target.portal.transport import speaks_tls
from conformance.target.profile.model import NO_PROFILE, Profile, of_target
from conformance.traffic.exchange import Exchange

URL = "portal.url"
ACCESS_CODE = "portal.access_code"

USUAL_PREFIXES = ("/api", "/portal", "/gateway")
"""Paths below which a portal often stands."""

REDIRECTS = (301, 302, 303, 307, 308)

Connect = Callable[[Profile], Portal]
"""Opens a portal of another profile in the same way."""


def check_address(portal: Portal, *, connect: Connect) -> Iterator[Diagnosis]:
    """Whether a portal answers at the address. Raises TargetUnreachable."""
    try:
        answer = portal.call(PUBLIC_KEY)
    except NotTls as plain:
        yield Diagnosis(URL, "wrong", str(plain), "configuration")
        return
    except NoAnswer as silent:  # often it waits for TLS
        if _wants_tls(portal):
            yield Diagnosis(URL, "wrong", _tls_advice(portal), "configuration")
        else:
            message = f"{silent.reason}. {silence_advice(silent.reason)}"
            yield Diagnosis(URL, "wrong", message, "environment")
        return
    address = _address(portal, answer, connect)
    yield address
    if address.state == "works":
        yield from _clock(portal, answer)


def problem_at(url: str) -> str | None:
    """What is wrong with an address; None where a portal answers there. It is asked for its public key, and
    sent no access code: a mistyped address may lead to a stranger."""

    def connect(other: Profile) -> Portal:
        return Portal.connect(other, impact="read-only", clock=Clock())

    try:
        with connect(of_target(url, {})) as portal:
            rows = check_address(portal, connect=connect)
            return next((row.message for row in rows if row.part == URL and row.state == "wrong"), None)
    except SuiteError as problem:
        return str(problem)


def _address(portal: Portal, answer: Exchange, connect: Connect) -> Diagnosis:
    status = answer.status or 0
    if status >= 500:
        message = f"{portal.url} answers with {refusal(answer)}. Check the portal and the services it needs."
        return Diagnosis(URL, "wrong", message, "target")
    if answer.envelope is None and _wants_tls(portal):
        return Diagnosis(URL, "wrong", _tls_advice(portal), "configuration")
    if not _shows_key(answer):
        elsewhere = _portal_nearby(portal, connect)
        if elsewhere is not None:
            problem = "too much" if portal.url.startswith(elsewhere) else "too little"
            message = (
                f"the path of {portal.url} is {problem}: no portal answers there ({refusal(answer)}), but "
                f'one does at {elsewhere}. Write url = "{elsewhere}" in [portal].'
            )
            return Diagnosis(URL, "wrong", message, "configuration")
    if status in REDIRECTS:
        place = answer.at("headers.location")
        message = f"{portal.url} redirects to {place}. Enter the portal's own address as [portal] url."
        return Diagnosis(URL, "wrong", message, "configuration")
    if answer.envelope is None:
        message = (
            f"{portal.url} answers ({refusal(answer)}), but not as a portal. Check [portal] url. It is what "
            "stands before /web/v1/ in the portal's addresses."
        )
        return Diagnosis(URL, "wrong", message, "configuration")
    return Diagnosis(URL, "works", f"a portal answers at {portal.url}")


def _wants_tls(portal: Portal) -> bool:
    """Whether the address has http, and TLS is spoken there. Nothing of the profile is sent for it."""
    settings = portal.profile.portal
    return settings.url.startswith("http:") and settings.proxy is None and speaks_tls(settings.url)


def _tls_advice(portal: Portal) -> str:
    secure = portal.url.replace("http:", "https:", 1)
    return f'{portal.url} speaks TLS at that port, and no plain HTTP. Write url = "{secure}" in [portal].'


def _shows_key(answer: Exchange) -> bool:
    return answer.success and isinstance(answer.at("data"), dict | str) and bool(answer.at("data"))


def _portal_nearby(portal: Portal, connect: Connect) -> str | None:
    """The address of a portal at the same host whose path is shorter or longer; None where there is none, or
    where one answers at the profile's address all the same."""
    own, parts = portal.url, urlsplit(portal.url)
    names = parts.path.strip("/").split("/") if parts.path.strip("/") else []
    shorter = (
        "/".join((f"{parts.scheme}://{parts.netloc}", *names[:count]))
        for count in range(len(names) - 1, -1, -1)
    )
    for url in (*shorter, *(f"{own}{prefix}" for prefix in USUAL_PREFIXES)):
        with connect(portal.profile.at(url)) as other:
            try:
                if _shows_key(other.call(PUBLIC_KEY)):
                    return url
            except Untestable:
                continue
    return None


def _clock(portal: Portal, answer: Exchange) -> Iterator[Diagnosis]:
    """Whether the clocks agree, as far as an answer tells, where somebody has an authenticator; a clock that
    can be moved is set anyway."""
    has_authenticator = any(account.otp_secret for account in portal.profile.accounts.values())
    offset = clock_offset(answer) if has_authenticator and not portal.clock.is_simulated else None
    problem = None if offset is None else clock_problem(offset)
    if problem is not None:
        message = f"{problem}: authenticator codes may be refused. Set the clock that is wrong."
        yield Diagnosis("time", "wrong", message, "environment")


def check_access_code(portal: Portal) -> Iterator[Diagnosis]:
    """A protected endpoint without a token: past the ingress it is the token that is missing."""
    answer = portal.call(PROFILE)
    if answer.code in TOKEN_REFUSED or (answer.status == 401 and answer.code != MISMATCH):
        yield Diagnosis(ACCESS_CODE, "works", "the ingress accepts requests with this access code")
    elif answer.success:
        message = "the ingress accepts it, but a protected endpoint answers without a token"
        yield Diagnosis(ACCESS_CODE, "works", message)
    elif (answer.status or 0) >= 500:
        message = f"a request is answered with {refusal(answer)}. Check the portal."
        yield Diagnosis(ACCESS_CODE, "wrong", message, "target")
    else:
        yield _refused_code(portal, answer)


def _refused_code(portal: Portal, answer: Exchange) -> Diagnosis:
    code = portal.profile.portal.access_code
    if not code:
        cure = 'Write the code of the SYSTEM portal as [portal] access_code, or "${PORTAL_ACCESS_CODE}".'
        if portal.profile.source == NO_PROFILE:
            cure = "Set the environment variable PORTAL_ACCESS_CODE."
        message = f"it is empty, and requests without one are refused ({refusal(answer)}). {cure}"
        return Diagnosis(ACCESS_CODE, "wrong", message, "configuration")
    message = f"a request with this access code is refused ({refusal(answer)})"
    other = portal.call(PROFILE, headers={"X-PORTAL-ACCESS-CODE": None})
    if (other.status, other.code) == (answer.status, answer.code):
        message += (
            ", and so is one without it. Check that it is the code of the SYSTEM portal, and that the "
            "ingress allows the address of this machine."
        )
    else:
        message += ". Check that it is the code of the SYSTEM portal."
    return Diagnosis(ACCESS_CODE, "wrong", message, "credentials")
