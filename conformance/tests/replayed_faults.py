"""A recording replayed on a portal with a fault: what the fault did to the answers, and what was reported.

What it did is found without the replay's own comparison: the same seeded portal is asked the same with and
without the fault, and the answers are held against each other as they are, times against the portal's start.
A fault that only puts other generated values in place of such, one for one, shows in no recording: another
portal of the same build does the same. Nor does one where a lawful portal gives the same answers.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path

import jwt

from conformance.replay import ReplayResult, replay
from conformance.replay.engine.step import ReplayStep
from conformance.report.model.run import Regression
from conformance.spec import operation_of
from conformance.target.profile.model import parse
from conformance.tests.asked_again import Conversation, name_file
from conformance.tests.replays import options_for
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json
from reference_impl import serve as reference
from reference_impl.faults import Fault

SEED = 11
SOME_TIME = 20.0
"""Seconds by which the same time may differ from one replay to the next."""

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
CLAIMS = "#"
MOMENTS = ("iat", "exp", "nbf")
EPOCH = range(1_500_000_000, 3_000_000_000)


@dataclass
class Trial:
    """A replay, and its answers by the exchange's number. ``began`` is when the portal started."""

    replayed: ReplayResult
    began: float
    answers: dict[int, Exchange]

    @property
    def regressions(self) -> list[Regression]:
        return self.replayed.run.regressions


@dataclass
class Verdict:
    """What became of a fault: ``done`` are the places where it changed an answer, by exchange."""

    fault: Fault
    done: list[tuple[int, str]]
    reported: list[Regression] = field(default_factory=list)
    elsewhere: list[Regression] = field(default_factory=list)
    """Reported where the fault changed nothing."""
    is_renaming: bool = False
    """Whether another portal of the same build answers so: with other generated values, one for one."""
    is_lawful: bool = False
    """Whether it is not reported, and a lawful portal answers so, octet by octet."""


def trial(
    recording: Path,
    *,
    faults: Sequence[str] = (),
    variants: Sequence[str] = (),
    seed: int = SEED,
    conversation: Conversation | None = None,
) -> Trial:
    """The recording on the seeded portal; ``conversation`` takes down what it is asked."""
    answers: dict[int, Exchange] = {}
    kept = conversation or Conversation(seed, file=recorded_file(recording))

    def watch(step: ReplayStep) -> None:
        if step.attempt is not None:
            answers[step.outcome.number] = step.attempt.live

    portal = reference.start(seed=seed, faults=faults, variants=variants, wrap=kept.heard, now=kept.now)
    name_file(portal.portal, portal.seeded, kept.file)
    try:
        with tempfile.TemporaryDirectory() as folder:
            profile = parse(portal.profile(), {})
            replayed = replay([recording], profile, options_for(Path(folder)), on_step=watch)
    finally:
        portal.server.should_exit = True  # it ends by itself, and nobody waits for that
    return Trial(replayed, kept.began, answers)


@cache
def recorded_file(recording: Path) -> str:
    """The id of the file that the client reads: no answer shows it, and it is the same at each deployment."""
    paths = (exchange.request.path for exchange in capture.read(recording))
    return next((path.rpartition("/")[2] for path in paths if "/system/files/" in path), "")


@dataclass
class Bench:
    """A recording, with what its replay gets from the portal without a fault."""

    recording: Path

    def __post_init__(self) -> None:
        self.conversation = Conversation(SEED, file=recorded_file(self.recording))
        self.sound = trial(self.recording, conversation=self.conversation)
        again = trial(self.recording)
        self.varying = set(differing(self.sound, again, ()))
        self.generated = set(differing(self.sound, trial(self.recording, seed=SEED + 1), ()))
        """The places that another portal of the same build fills otherwise."""

        self._called = {
            operation.key
            for exchange in capture.read(self.recording)
            if (operation := operation_of(exchange.request.method, exchange.request.path))
        }

    def calls(self, fault: Fault) -> bool:
        """Whether an operation of a fault was recorded; some are of all."""
        return not fault.operations or not self._called.isdisjoint(fault.operations)

    def judged(self, fault: Fault) -> Verdict:
        if not self.conversation.is_answered_otherwise(faults=[fault.name]):
            return Verdict(fault, [])
        faulty = trial(self.recording, faults=[fault.name])
        done = list(differing(self.sound, faulty, self.varying))
        verdict = Verdict(fault, done, is_renaming=self.is_renaming(faulty, done))
        places: dict[int, list[str]] = {}
        for number, place in done:
            places.setdefault(number, []).append(place)
        for regression in faulty.regressions:
            is_there = any(
                _holds(place, path) or _holds(path, place)
                for number, path in _named_places(regression)
                for place in places.get(number, ())
            )
            (verdict.reported if is_there else verdict.elsewhere).append(regression)
        if done and not verdict.reported and not verdict.is_renaming:
            verdict.is_lawful = self.conversation.is_answered_lawfully(fault.name)
        return verdict

    def is_renaming(self, faulty: Trial, done: Sequence[tuple[int, str]]) -> bool:
        """Whether all that changed is generated values, and each of them has one counterpart everywhere."""
        if not self.generated.issuperset(done):
            return False
        pairs = set(_generated_pairs(self.sound, faulty, self.generated))
        olds, news = (len({pair[side] for pair in pairs}) for side in (0, 1))
        return olds == len(pairs) == news and all(isinstance(value, str) for pair in pairs for value in pair)

    def under(self, variant: str) -> tuple[bool, Trial]:
        """Whether a lawful variant keeps every answer as it was, and the replay on it."""
        if not self.conversation.is_answered_otherwise(variants=[variant]):
            return True, self.sound
        lawful = trial(self.recording, variants=[variant])
        return not any(differing(self.sound, lawful, self.varying)), lawful


def _named_places(regression: Regression) -> Iterator[tuple[int, str]]:
    """The exchange and the path of each place that a regression names: where two answers disagree, both."""
    row = regression.model_dump()
    yield row["recorded_exchange"], regression.path
    other = row.get("other")
    if other is not None:
        yield other["recorded_exchange"], other["path"]


def differing(
    sound: Trial, other: Trial, varying: Sequence[tuple[int, str]] | set[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """Exchange and place wherever two replays got different answers."""
    for number, new in other.answers.items():
        old = sound.answers.get(number)
        if old is None or old.response is None or new.response is None:
            continue
        pairs: list[tuple[Json, Json, str]] = [
            (old.response.status, new.response.status, "status"),
            (old.at("headers.content-type"), new.at("headers.content-type"), "headers.content-type"),
            (old.response.body, new.response.body, ""),
        ]
        for before, after, place in pairs:
            for found in _differing(_Timed(before, sound.began), _Timed(after, other.began), place):
                if (number, found) not in varying:
                    yield number, found


def _generated_pairs(
    sound: Trial, other: Trial, generated: Container[tuple[int, str]]
) -> Iterator[tuple[Json, Json]]:
    """The values of both replays wherever they are generated ones."""
    for number, new in other.answers.items():
        old = sound.answers.get(number)
        if old is None or old.response is None or new.response is None:
            continue
        here, there = (dict(_leaves(body, "")) for body in (old.response.body, new.response.body))
        for place in {**here, **there}:
            if (number, place.partition(CLAIMS)[0]) in generated:
                yield here.get(place), there.get(place)


def _leaves(value: Json, place: str) -> Iterator[tuple[str, Json]]:
    """Every value that is none of several, with its place; those of a token below the token's."""
    inner = _read(value)
    if isinstance(inner, dict):
        at = f"{place}{CLAIMS}" if isinstance(value, str) else place
        for name, each in inner.items():
            if not (isinstance(value, str) and name in MOMENTS):
                yield from _leaves(each, f"{at}.{name}".lstrip("."))
    elif isinstance(inner, list):
        for number, each in enumerate(inner):
            yield from _leaves(each, f"{place}[{number}]")
    else:
        yield place, inner


@dataclass(frozen=True)
class _Timed:
    """A value of an answer, and when its portal started."""

    value: Json
    began: float


def _differing(old: _Timed, new: _Timed, place: str) -> Iterator[str]:
    one, other = _read(old.value), _read(new.value)
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            inner = place if isinstance(old.value, str) else f"{place}.{name}".lstrip(".")
            if (name in one) != (name in other):
                yield inner
            else:
                yield from _differing(_Timed(one[name], old.began), _Timed(other[name], new.began), inner)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, pair in enumerate(zip(one, other, strict=True)):
            yield from _differing(_Timed(pair[0], old.began), _Timed(pair[1], new.began), f"{place}[{at}]")
    elif type(one) is not type(other) or not _is_same(_Timed(one, old.began), _Timed(other, new.began)):
        yield place


def _read(value: Json) -> Json:
    """A token's claims; anything else as it is."""
    if isinstance(value, str) and value.startswith("eyJ"):
        with suppress(jwt.InvalidTokenError):
            return jwt.decode(value, options={"verify_signature": False})
    return value


def _is_same(old: _Timed, new: _Timed) -> bool:
    if old.value == new.value:
        return True
    before, after = _moment(old.value), _moment(new.value)
    if before is None or after is None or _form(old.value) != _form(new.value):
        return False
    age, age_now = before - old.began, after - new.began
    return abs(age - age_now) < (SOME_TIME if max(age, age_now) > -SOME_TIME else _grain(old.value))


def _grain(value: Json) -> float:
    """Seconds by which a time may differ that the portal's start alone decides."""
    return 0.1 if isinstance(value, str) and "." in value else 1.0


def _moment(value: Json) -> float | None:
    """Seconds since the epoch, where a value is a time."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return next((value / unit for unit in (1, 1000) if int(value / unit) in EPOCH), None)
    if isinstance(value, str) and ISO.match(value):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            return None
    return None


def _form(value: Json) -> str:
    return re.sub(r"\d", "9", value) if isinstance(value, str) else str(len(str(int(value))))


def _holds(outer: str, inner: str) -> bool:
    return outer == inner or not outer or inner.startswith((f"{outer}.", f"{outer}["))
