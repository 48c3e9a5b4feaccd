"""The recorder's capture: one redacted line for each exchange, written before its client is answered."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from conformance.errors import CaptureError
from conformance.judging import Watch
from conformance.record.hidden import HiddenSecrets
from conformance.traffic.capture import Writer
from conformance.traffic.capture.writer import rewrite
from conformance.traffic.exchange import Exchange, Plain, Request, Response
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets, secrets_in
from conformance.verdicts.findings import Finding


@dataclass
class Log:
    """The capture as it grows. ``on_finding`` is called once for each contradiction."""

    path: Path
    secrets: Secrets
    judge: Watch | None = None
    on_finding: Callable[[Finding], None] = lambda finding: None
    count: int = 0
    unanswered: int = 0
    stopped: str = ""
    """Why recording stopped before its end; empty where it did not."""
    finder: SecretFinder = field(default_factory=SecretFinder)
    _reported: set[str] = field(default_factory=set)
    _is_stale: bool = False
    """Whether a response showed a value before a request said that it is a secret."""

    def __post_init__(self) -> None:
        self._writer = Writer(self.path)
        self.hidden = HiddenSecrets(self.secrets)
        self._lock = threading.Lock()

    def write(
        self,
        request: Request,
        response: Response | None,
        *,
        started: str,
        elapsed_ms: float,
        client: str,
        error: str | None = None,
        plain: Plain | None = None,
    ) -> None:
        """Appends one exchange. Where it cannot be written, recording stops, which is said at once."""
        with self._lock:
            if self.stopped:
                return
            exchange = Exchange(
                n=self.count + 1,
                started=started,
                elapsed_ms=elapsed_ms,
                client=client,
                request=request,
                response=response,
                error=error,
                plain=plain,
            )
            self._is_stale |= self.finder.has_returned(secrets_in(exchange), self.secrets)
            self.secrets.add_from(exchange)
            written = self.finder.register(exchange, self.secrets)
            line = self._writer.line(replace(written, hidden=self.hidden.of(exchange) or None)).decode()
            try:
                self._writer.write_line(self.secrets.redact_line(line).encode())
            except CaptureError as error:
                self._stop(error)
                return
            self.count += 1
            self.unanswered += response is None
        self._judge(exchange)

    def _stop(self, error: CaptureError) -> None:
        """Says that nothing more is recorded. The clients go on as before."""
        kept = "1 exchange" if self.count == 1 else f"{self.count} exchanges"
        self._say(f"{error} Recording stopped: {self.path} holds {kept}; traffic passes on unrecorded.")

    def close(self) -> None:
        """Closes the capture. What was shown before it was known for a secret is redacted there as well.
        Where there is no room for that, it is said."""
        try:
            self._writer.close()
        except CaptureError as error:
            self._say(f"{error} Its end is missing: read it with --salvage.")
        if not self._is_stale and not self.finder.is_late:
            return
        try:
            rewrite(self._writer.path, self.secrets.redact_line)
        except CaptureError as error:
            self._say(f"{error} It still holds secrets that only later exchanges showed: do not pass it on.")

    def _say(self, problem: str) -> None:
        self.stopped = self.stopped or problem
        print(self.secrets.redact(problem), file=sys.stderr, flush=True)

    def _judge(self, exchange: Exchange) -> None:
        if self.judge is None:
            return
        for finding in self.judge(exchange):
            if finding.signature not in self._reported:
                self._reported.add(finding.signature)
                self.on_finding(finding)
