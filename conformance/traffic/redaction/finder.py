"""Finds secrets that no place of the specification shows: in headers and fields of a deployment's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from conformance.errors import UsageError
from conformance.traffic.capture.placeholders import BLOCK
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.listed import ListedSecrets, plain_name
from conformance.traffic.redaction.looks import is_ordinary
from conformance.traffic.redaction.places import is_placeholder
from conformance.traffic.redaction.redact import Secrets, secrets_in
from conformance.traffic.redaction.scan import SecretScan


@dataclass
class SecretFinder:
    """Takes the exchanges of one recording in order. ``counts`` says how many values were taken for secrets,
    by name, and ``listed_counts`` how many were redacted because the user listed them.
    """

    listed: ListedSecrets = field(default_factory=ListedSecrets)
    counts: Counter[str] = field(default_factory=Counter)
    listed_counts: Counter[str] = field(default_factory=Counter)
    is_late: bool = False
    """Whether a value was taken for a secret that an earlier response had returned."""
    files: int = 1
    """How many files are read together, each of which may have placeholders of its own."""
    _scan: SecretScan = field(default_factory=SecretScan)
    _taken: set[int] = field(default_factory=set)

    def register(self, exchange: Exchange, secrets: Secrets) -> Exchange:
        """Registers what is listed, what is secret by its place, and what looks like a secret in an exchange.
        Counts each value once that no place shows; what a recorder redacted already has only what was left in
        it on purpose.
        Returns the exchange to be written: without what is listed; the same where there is nothing of it."""
        if self.listed:
            exchange = self.listed.redacted(exchange, partial(self._listed_placeholder, secrets))
        if not is_redacted(exchange):
            self._register_likely(exchange, secrets)
        elif self.files > 1:
            secrets.number_after(self.files * BLOCK)
        return exchange

    def _register_likely(self, exchange: Exchange, secrets: Secrets) -> None:
        for value, kind, name in self._scan.found(exchange):
            if is_ordinary(value) or plain_name(name) in self.listed.kept:
                continue
            is_new = secrets.placeholder(value) is None
            secrets.add(value, kind)
            self.is_late |= is_new and hash(value) in self._scan.returned
            if is_new and hash(value) not in self._taken and not _is_by_place(value, exchange):
                self._taken.add(hash(value))
                self.counts[name] += 1

    def take_for_ids(self, values: Iterable[str]) -> None:
        """Ids that a client may send before a response returns them, as the user has named them."""
        self._scan.returned.update(map(hash, values))

    @property
    def has_changed_any(self) -> bool:
        """Whether some exchange may not be written as it is."""
        return bool(self.counts or self.listed_counts)

    def has_returned(self, values: Iterable[tuple[str, str]], secrets: Secrets) -> bool:
        """Whether an earlier response returned one of these secrets, each with its kind, before it was
        registered: it stands there as it is."""
        new = (hash(value) for value, _ in values if secrets.placeholder(value) is None)
        return not self._scan.returned.isdisjoint(new)

    def _listed_placeholder(self, secrets: Secrets, value: str, name: str) -> str:
        """The placeholder of a listed value, which is a secret everywhere unless it is an ordinary one."""
        if hash(value) not in self._taken and secrets.placeholder(value) is None:
            self._taken.add(hash(value))
            self.listed_counts[name] += 1
        if not is_ordinary(value):
            secrets.add(value, "secret")
        return secrets.name_in_place(value, "secret")

    def lines(self) -> Iterator[str]:
        """What was redacted, by name and count: as listed, and for its look, with how to say otherwise."""
        for name, times in self.listed_counts.most_common():
            yield f"Redacted as listed: {_values(times)} of {name}."
        for name, times in self.counts.most_common():
            taken = f"Redacted, as such values look like secrets: {_values(times)} of {name}"
            yield f"{taken}. Where they are none, give --keep {name}."


def is_redacted(exchange: Exchange) -> bool:
    """Whether a recorder wrote a placeholder in place of the access code or the token of a request."""
    code, token = exchange.request.header("x-portal-access-code"), exchange.request.bearer
    return any(value is not None and is_placeholder(value) for value in (code, token))


def _is_by_place(value: str, exchange: Exchange) -> bool:
    """Whether the specification names a value as a secret where it stands in an exchange."""
    return any(value == shown for shown, _ in secrets_in(exchange))


def _values(times: int) -> str:
    return "1 value" if times == 1 else f"{times} values"


def finder_of(redact: Iterable[str], keep: Iterable[str], names: Iterable[str] = ()) -> SecretFinder:
    """A finder with what the user names: headers, fields, and patterns between slashes. UsageError: one is no
    pattern."""
    listed = [*redact, *names]
    patterns = [text[1:-1] for text in listed if len(text) > 2 and text[0] == text[-1] == "/"]
    plain = frozenset(plain_name(text) for text in listed if not text.startswith("/"))
    kept = frozenset(map(plain_name, keep))
    try:
        return SecretFinder(ListedSecrets(plain, tuple(map(re.compile, patterns)), kept))
    except re.error as error:
        raise UsageError(f"--redact: a pattern is no regular expression ({error}). Correct it.") from None
