"""What each endpoint does, a file per chapter; every handler is ``(portal, caller, body) -> data``."""
