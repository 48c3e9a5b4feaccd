"""Sessions started by the run: open ones, and logging them out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress

from conformance.checks.access.sign_in import HEARD_OF
from conformance.checks.records import sent_fields
from conformance.checks.registry import key_of
from conformance.errors import NoAnswer, TargetUnreachable, Untestable
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGOUT, TOKEN_REFRESH
from conformance.traffic.exchange import Exchange

LONGEST_END = 15.0
"""Seconds after which no further session is ended: a slow target is not kept busy by it."""


class OwnSessions:
    """Sessions that the run started and, by its exchanges, may still be open."""

    def __init__(self) -> None:
        self._accounts: dict[str, str] = {}
        """By the access token of each session, the name of its account."""
        self._of_refresh_token: dict[str, str] = {}
        self._outlived: dict[str, float] = {}
        """By access token, when another session of its account was logged out last (epoch seconds)."""
        self._may_be_over: set[str] = set()
        """The access tokens of those that something else than a logout may have ended since they served."""
        self.replayed: Counter[str] = Counter()
        """By account, the sessions that replayed sign-ins began and no replayed logout ended."""
        self.ends_alone: bool | None = None
        """Whether a logout ends no session but its own; None where nothing shows it."""

    @property
    def accounts(self) -> list[tuple[str, str]]:
        """The access tokens of the open sessions, each with the name of its account."""
        return list(self._accounts.items())

    @property
    def open_by_account(self) -> Counter[str]:
        return Counter(self._accounts.values()) + self.replayed

    def end(self, log_out: Callable[[str], object], *, logged_out: Collection[str] = ()) -> None:
        """Logs out the sessions that the run began, where it was seen that this ends no other, and those of
        accounts that were ``logged_out`` before."""
        until = time.monotonic() + LONGEST_END
        with suppress(NoAnswer, Untestable, TargetUnreachable):
            for token, account in self.accounts:
                if time.monotonic() > until:
                    break
                if self.ends_alone or account in logged_out:
                    log_out(token)

    @property
    def left(self) -> str | None:
        """Which sessions stay open, as a sentence; None where none does."""
        open_ones = sorted(self.open_by_account.items())
        if not open_ones:
            return None
        numbers = ", ".join(f"{number} of [accounts.{name}]" for name, number in open_ones)
        return f"Sessions that the run began may stay open until they expire: {numbers}."

    def notice(self, exchange: Exchange) -> None:
        key, token = key_of(exchange), exchange.request.bearer
        if exchange.success and exchange.request.method != "GET" and key != LOGOUT:
            self._may_be_over.update(self._accounts)
        if key == LOGIN_COMPLETE and exchange.success:
            self._begin(exchange, exchange.client)
        elif key == TOKEN_REFRESH and exchange.success:
            before = self._of_refresh_token.pop(str(sent_fields(exchange).get("refreshToken")), "")
            self._begin(exchange, self._accounts.pop(before, exchange.client))
        elif token in self._accounts:
            self._use(token, exchange, is_logout=key == LOGOUT)

    def _begin(self, exchange: Exchange, account: str) -> None:
        access, refresh = exchange.at("data.accessToken"), exchange.at("data.refreshToken")
        if isinstance(access, str) and account:
            self._accounts[access] = account
            if isinstance(refresh, str):
                self._of_refresh_token[refresh] = access

    def _use(self, token: str, exchange: Exchange, *, is_logout: bool) -> None:
        if is_logout and exchange.success:
            account = self._accounts.pop(token)
            number = exchange.at("data.terminatedSessions")
            if isinstance(number, int) and number > 1:
                self.ends_alone = False
            self._outlived.update(
                {other: exchange.time for other, owner in self._accounts.items() if owner == account}
            )
        elif exchange.status == 401:
            self._accounts.pop(token)
            if token in self._outlived and token not in self._may_be_over:
                self.ends_alone = False
        elif exchange.success:
            self._may_be_over.discard(token)
            if exchange.time > self._outlived.get(token, exchange.time) + HEARD_OF:
                self._outlived.pop(token)
                self.ends_alone = self.ends_alone is not False
