"""How many exchanges some recorded traffic has, of which hosts, and what of it was set aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from conformance.report.model.visible import one_line
from conformance.report.model.words import passive
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic.exchange import Exchange, named

NO_EXCHANGE = "The files hold no exchange"
NO_REQUEST = "None of the recorded requests"
"""How the sentences begin that say why nothing is judged."""


@dataclass
class TrafficTotals:
    """The counts of some traffic. ``first_ignored`` names an entry for each reason that sets some aside."""

    target: str | None = None
    """The address that ``--target`` names."""
    ignored: Counter[str] = field(default_factory=Counter)
    first_ignored: dict[str, str] = field(default_factory=dict)
    hosts: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)
    """The hosts that ``--target`` leaves out, with the requests that have a path of the portal's."""
    count: int = 0

    def ignore(self, why: str, exchange: Exchange) -> None:
        self.ignored[why] += 1
        if why not in self.first_ignored:
            self.first_ignored[why] = named(exchange.request.method, exchange.request.url)

    @property
    def portal(self) -> str:
        """The portal's address, or the host that most of the traffic went to."""
        most = self.hosts.most_common(1)
        return self.target or (urlsplit(f"//{most[0][0]}").netloc if most else "no portal")

    def details(self) -> dict[str, dict[str, Any]]:
        """What was ignored, as ``results.json`` holds it."""
        named_ones = {"first_set_aside": self.first_ignored} if self.first_ignored else {}
        return {"set_aside": dict(self.ignored), **named_ones}

    def sentences(self) -> Iterator[str]:
        """What was ignored, and whether there was no traffic, or that of several hosts, judged as one's."""
        for why, times in self.ignored.most_common():
            yield f"{passive(times, 'entry')} set aside: {why}{self._such(why)}."
        if not self.hosts:
            yield self._nothing_of_the_portal()
        if len(self.hosts) > 1:
            hosts = ", ".join(f"{host} ({times})" for host, times in self.hosts.most_common(5))
            yield (
                f"Several hosts were judged as one portal: {hosts}. Where they are several portals, one may "
                f"seem to contradict the other: check each alone, such as with --target {self.portal}."
            )

    def _such(self, why: str) -> str:
        """Which entry is meant, or one of several."""
        name = one_line(self.first_ignored.get(why, ""))
        if not name:
            return ""
        return f" ({name})" if self.ignored[why] == 1 else f" (such as {name})"

    def _nothing_of_the_portal(self) -> str:
        if not self.ignored:
            return f"{NO_EXCHANGE}. Give a capture that `record` wrote, or a HAR file that a browser saved."
        if self.target:
            hosts = ", ".join(f"{host} ({times})" for host, times in self.elsewhere.most_common(5))
            there = f" The portal's paths were requested at {hosts}." if hosts else ""
            return f"{NO_REQUEST} went to {self.target}, which --target names.{there}"
        return f"{NO_REQUEST} is one of the portal's: none has {PORTAL_PATH} in its path."
