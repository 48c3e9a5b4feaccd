"""TLS to a portal, as its profile says: for runs, replays, the recorder and the doctor."""

from __future__ import annotations

import ssl

from conformance.errors import ProfileError
from conformance.target.profile.model import Profile


def tls_context(profile: Profile) -> ssl.SSLContext | None:
    """The context of connections to the portal; None where its address has no TLS: to load certificates takes
    longer than several requests. ProfileError: a file of certificates cannot be read."""
    portal = profile.portal
    if not portal.url.lower().startswith("https:"):
        return None
    try:
        context = checking_context(portal.verify)
    except OSError as problem:
        raise ProfileError(_unreadable(profile, "verify", str(portal.verify), problem)) from None
    if portal.client_cert is not None:
        try:
            context.load_cert_chain(portal.client_cert, portal.client_key, password=_no_password)
        except (OSError, ValueError) as problem:
            files = " and ".join(filter(None, (portal.client_cert, portal.client_key)))
            raise ProfileError(_unreadable(profile, "client_cert", files, problem)) from None
    return context


def checking_context(verify: bool | str) -> ssl.SSLContext:
    """A context that checks certificates by a file of a CA, by those of the system, or not at all. OSError:
    the file cannot be read."""
    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if verify is False:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _no_password() -> str:
    """ValueError: a key that asks for a password is not read, as nobody may sit at the terminal."""
    raise ValueError("the key is encrypted: give one without a password")


def _unreadable(profile: Profile, key: str, files: str, problem: Exception) -> str:
    what = "Name a CA file." if key == "verify" else "Name a PEM file of a certificate, and of its key."
    return f"{profile.source}: [portal] {key}: {files} cannot be read ({problem}). {what}"
