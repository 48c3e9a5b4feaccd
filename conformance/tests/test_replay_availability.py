"""A target that often gives no answer: what was compared says little, and the replay is not green."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from conformance.replay import replay
from conformance.spec.endpoints import ACCOUNTS_QUERY
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for
from conformance.tests.test_replay_silence import Line, profile_at
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic import capture
from reference_impl import serve as reference

RECORDED = 120
SPARED = 8


class Flaky(Line):
    """A line that ends without an answer after every eighth request."""

    count = 0

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.count += data.startswith(b"POST ")
                if data.startswith(b"POST ") and not self.count % SPARED:
                    break
                sink.sendall(data)
            for end in (source, sink):
                end.shutdown(socket.SHUT_RDWR)


def test_a_replay_without_an_answer_to_many_requests_is_inconclusive(tmp_path: Path) -> None:
    with reference.start() as portal, capture.Writer(tmp_path / "traffic.jsonl") as writer:
        for number in range(1, RECORDED + 1):
            writer.write(answer(ACCOUNTS_QUERY, sent={"page": 0}, n=number, headers=NO_TOKEN))
        with Flaky(int(portal.url.rpartition(":")[2])).open() as port:
            profile = parse(profile_at(port, portal), {})
            told = replay([tmp_path / "traffic.jsonl"], profile, options_for(tmp_path / "out"))

    assert told.tally.silent >= 10
    assert "requests had no answer" in told.run.ending.inconclusive
    assert told.run.exit_code != 0
