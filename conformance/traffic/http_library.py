"""The HTTP library, imported here and nowhere else: ``docs/http-library.md`` says what another one takes."""

import httpx

__all__ = ["httpx"]
