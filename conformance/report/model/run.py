"""A run as ``results.json`` holds it (the public contract, schema 1): what every report is made from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Required, Self, TypedDict, Unpack

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

import conformance
from conformance.errors import UsageError
from conformance.impacts import FailOn
from conformance.report.model.visible import json_text
from conformance.spec import BY_KEY
from conformance.spec.places import OWN_SECTION
from conformance.spec.requirements import present_id, present_signature
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Finding, Observation, Result

SCHEMA = 1
Level = Literal["must", "should", "open"]
VerdictName = Literal["pass", "fail", "warn", "open", "untested"]
FaultClass = Literal["target", "configuration", "credentials", "environment", "suite"]
VERDICTS: tuple[VerdictName, ...] = ("fail", "warn", "untested", "open", "pass")
"""As reports order them: what needs a reader first."""


class Part(BaseModel):
    """What all parts of a run have in common: keys that a later version adds are kept, not refused."""

    model_config = ConfigDict(
        extra="allow", frozen=True, populate_by_name=True, ser_json_inf_nan="strings", defer_build=True
    )


def _bounded(**bounds: int) -> BeforeValidator:
    """Bounds of a value, which is cut here; the exchanges have it whole."""
    return BeforeValidator(lambda value: clipped(value, **bounds))


RuleId = Annotated[str, AfterValidator(present_id)]
"""The id of a requirement: a former one is read as that of today."""
Name = Annotated[str, _bounded(text=300)]
Observed = Annotated[JsonValue, _bounded(text=1_000, items=40)]
Value = Annotated[JsonValue, _bounded()]


class Suite(Part):
    name: str = "portal-conformance"
    version: str = conformance.__version__


class Target(Part):
    url: str
    profile: str | None = None


class Summary(Part):
    """How many requirements came to each verdict."""

    pass_: int = Field(0, alias="pass")
    fail: int = 0
    warn: int = 0
    open: int = 0
    untested: int = 0


class RequirementEntry(Part):
    """``operations`` are the endpoints it concerns, none where it concerns all or no particular one;
    ``untestable`` says that it cannot be seen from outside, whatever the profile offers."""

    id: RuleId
    section: str
    level: Level
    statement: str
    verdict: VerdictName
    cases: list[str] = []
    reason: str | None = None
    fault_class: FaultClass | None = None
    operations: list[str] = []
    reading: str | None = None
    untestable: bool = False

    @property
    def chapter(self) -> str:
        return self.id.rpartition("-")[0] or self.section

    @property
    def is_own(self) -> bool:
        """Whether the user added it to the specification's: then it counts in a score of its own."""
        return self.section == OWN_SECTION


class OtherPlaceEntry(Part):
    """Where another answer shows what was expected: its exchange, endpoint, record and field."""

    exchange: int
    endpoint: Name
    record: Name
    field: str


class FindingEntry(Part):
    """``signature`` stays the same from run to run; ``path`` is ``status``, ``headers.NAME`` or a
    place in the body; ``missing`` says that nothing stood there, which ``actual`` cannot tell from null.
    ``severity`` is ``access``, ``secret``, ``data``, ``client``, ``differs`` or ``own``; ``filters`` are
    those of the requests whose listing was compared, where a finding is about which records it holds.
    ``is_aside``: the case does not declare the requirement, so that this case alone shows it again;
    ``varies``: at some of the ``times`` other values were seen or expected."""

    requirement: RuleId
    verdict: VerdictName
    case: str | None = None
    endpoint: Name
    message: Annotated[str, _bounded(text=1_000)]
    expected: Value = None
    actual: Value = None
    exchanges: list[int] = []
    path: str = ""
    times: int = 1
    signature: Annotated[str, _bounded(text=600), AfterValidator(present_signature)] = ""
    fault_class: FaultClass = "target"
    missing: bool = False
    other: OtherPlaceEntry | None = None
    severity: str = ""
    filters: list[str] = []
    is_aside: bool = False
    varies: bool = False

    @property
    def id(self) -> str:
        """The id by which a finding is accepted; it stays the same from run to run."""
        return short_id(self.signature)

    @property
    def rule_and_case(self) -> str | None:
        """Rule and case, as ``--rerun`` takes them, of what this case alone shows again: where it does not
        declare the rule, or compared with an answer to it. None of other findings."""
        case = self.case or ""
        is_of_case = case.startswith("cases/") and (self.is_aside or self.other is not None)
        return f"{self.requirement} {case}" if is_of_case else None


def short_id(*names: str) -> str:
    """An id of seven characters for what names identify."""
    text = " ".join(names).encode(errors="backslashreplace")
    return hashlib.sha256(text).hexdigest()[:7]


class ObservationEntry(Part):
    topic: Name
    endpoint: Name
    observed: Observed = None
    exchanges: list[int] = []
    times: int = 1


class Reading(Part):
    """What the target does where the specification is silent or says two things.

    ``observed`` holds every value seen; more than one means that the target is not of one mind.
    ``pinned`` is what the profile's ``[readings]`` expects.
    """

    key: str
    observed: list[Observed]
    statement: str | None = None
    requirement: RuleId | None = None
    endpoint: str | None = None
    pinned: JsonValue = None
    exchanges: list[int] = []


class Regression(Part):
    """A difference of a replay, with its meaning. ``Run.regressions`` are those held against the target."""

    exchange: int
    endpoint: str
    path: str
    kind: str
    recorded: JsonValue = None
    replayed: JsonValue = None
    meaning: str = ""
    """``contradiction``, ``breaking``, ``permitted`` or ``drift``."""
    basis: str = ""
    """The requirement that is contradicted, or the sentence or gap that permits the difference."""


class Timed(Part):
    """Something of the run that took time (epoch seconds): a ``wait``, or a ``case`` up to its end or next
    wait. ``exchanges``: the first and the last of them."""

    kind: str
    label: str
    start: float
    end: float
    exchanges: tuple[int, int] | None = None

    @property
    def seconds(self) -> float:
        return max(0.0, self.end - self.start)


class OperationTime(Part):
    """How long the answers of one endpoint took, in milliseconds, and how often they had each of
    ``statuses``."""

    endpoint: str
    group: str
    requests: int
    statuses: dict[str, int] = {}
    total_ms: float
    median_ms: float
    p95_ms: float
    p99_ms: float | None = None
    max_ms: float


OF_REPLAYS = "regressions"
"""Stands in place of a rule where a row of a baseline lists a difference of replays."""


class BaselineEntry(Part):
    """One finding or difference set against the baseline."""

    id: str = ""
    signature: str
    requirement: str
    endpoint: str = ""
    reason: str = ""
    ticket: str = ""
    expires: str = ""


class BaselineOutcome(Part):
    """A run against the known failures of ``file``. ``undecided`` are entries whose rule it did not decide
    at their endpoint: they are neither known to hold nor stale. ``warned`` are warnings that no entry lists,
    and that fail nothing."""

    file: str
    new: list[BaselineEntry] = []
    known: list[BaselineEntry] = []
    stale: list[BaselineEntry] = []
    expired: list[BaselineEntry] = []
    undecided: list[BaselineEntry] = []
    warned: list[BaselineEntry] = []


class Since(Part):
    """What changed since the run before this one."""

    started: str
    newly_failing: list[str] = []
    newly_warned: list[str] = []
    fixed: list[str] = []
    no_longer_tested: list[str] = []
    changed_readings: list[str] = []

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """Changed rules and readings, grouped by the words for their change; no empty groups."""
        groups = [("newly failing", self.newly_failing), ("newly warned", self.newly_warned)]
        groups += [("fixed", self.fixed), ("no longer tested", self.no_longer_tested)]
        groups += [("with a changed reading", self.changed_readings)]
        return [(words, names) for words, names in groups if names]


class Ending(Part):
    """How a run ended, beside what was judged. ``errors`` are the suite's own, by check or case,
    ``broken_rules`` those that rules of the user's own raised, by rule;
    ``restarted`` says when the target restarted, ``left_behind`` is what was changed at the target and not
    restored, ``cleanup`` the command that restores it; ``inconclusive`` says why too little was tested,
    ``unusable`` what of the command, the profile or a file ended it; ``too_slow`` are the limits on latency
    that were exceeded."""

    interrupted: bool = False
    unreachable: str = ""
    restarted: str = ""
    errors: dict[str, str] = {}
    broken_rules: dict[str, str] = {}
    left_behind: list[str] = []
    cleanup: str = ""
    inconclusive: str = ""
    unusable: str = ""
    too_slow: list[str] = []


class ChangesMade(Part):
    """What a run changed at the target: how many changes it attempted, how many of them the target accepted,
    how many of these were restored, and how many nothing restores (``staying``)."""

    attempted: int
    accepted: int
    restored: int
    staying: int = 0


class Scope(Part):
    """What a run set out to test. ``selection`` names the options that selected some of the cases;
    ``bundled``: the bundled reference portal was judged; ``testable``: how many musts the profile and the
    impact let be tested, where that was worked out; ``time_budget``: the longest it could take, as it was
    given (``10m``); ``effort``: that of the examples that a run generates. ``called`` are the endpoints that
    were called, ``decided``, by endpoint, the rules about every endpoint that were decided, of a selection
    all; ``more`` says what the next impact, or an account that the profile lacks, would test beside;
    ``rules`` are the files of the user's own rules. ``seed`` is that of generated requests. ``profile``: its
    tables, redacted, of its inboxes the kinds. ``edition`` and ``edition_level`` say what to conform to."""

    selection: str = ""
    bundled: bool = False
    testable: int | None = None
    time_budget: str = ""
    effort: str = ""
    called: list[str] = []
    decided: dict[str, list[str]] = {}
    more: list[str] = []
    rules: list[str] = []
    seed: int | None = None
    profile: dict[str, Json] = {}
    edition: str = ""
    edition_level: str = ""


class EditionOutcome(Part):
    """Whether a run conforms to a level of an edition, whose lists alone decide: rules that it contradicts,
    whatever their verdict, and that it left untested. ``not_scored`` were decided, and are newer."""

    name: str
    level: str
    conforms: bool
    contradicted: list[RuleId] = []
    untested: list[RuleId] = []
    not_scored: list[RuleId] = []


EXTRAS = (
    *("exit_codes", "own_rules", "readings", "deviations", "timings", "timeline", "notes", "changes"),
    *("baseline", "since", "edition"),
    "secrets",
)
"""The keys of a run that ``results.json`` leaves out where they are empty."""


def _iso(time: Json) -> Json:
    if not isinstance(time, datetime):
        return time
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat(timespec="milliseconds")


class RunFacts(TypedDict, total=False):
    """What a run holds beside its verdicts: the arguments of ``Run.of``."""

    target_url: Required[str]
    target_profile: Required[str | None]
    started: Required[datetime | str]
    finished: Required[datetime | str]
    impact: Required[str]
    fail_on: Required[FailOn]
    exit_code: int
    command: str
    ending: Ending
    scope: Scope
    changes: ChangesMade | None
    regressions: Sequence[Regression]
    deviations: Sequence[FindingEntry]
    timings: Sequence[OperationTime]
    timeline: Sequence[Timed | Mapping[str, Any]]
    notes: Sequence[str]


class Run(Part):
    """One run, replay or check. Everything but the contract's keys is optional and left out where empty.

    ``deviations`` are differences from descriptions that are not the specification, as findings of rules that
    begin with ``DESCRIBED-``, or ``LEARNED-`` where nobody has accepted the description: they count nowhere.
    ``secrets`` says by placeholder where a secret of the findings' exchanges came from, and how the suite
    altered it.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    suite: Suite = Suite()
    target: Target
    started: Annotated[str, BeforeValidator(_iso)]
    finished: Annotated[str, BeforeValidator(_iso)]
    impact: str
    strict: bool = False
    fail_on: FailOn | None = None
    exit_code: int
    exit_codes: list[int] = []
    command: str = "run"
    summary: Summary
    own_rules: Summary | None = None
    """How many rules of the user's own came to each verdict."""
    requirements: list[RequirementEntry]
    findings: list[FindingEntry]
    observations: list[ObservationEntry]
    readings: list[Reading] = []
    deviations: list[FindingEntry] = []
    regressions: list[Regression] = []
    timings: list[OperationTime] = []
    timeline: list[Timed] = []
    notes: list[str] = []
    ending: Ending = Ending()
    scope: Scope = Scope()
    changes: ChangesMade | None = None
    baseline: BaselineOutcome | None = None
    since: Since | None = None
    edition: EditionOutcome | None = None
    secrets: dict[str, str] = {}

    @property
    def fails_on(self) -> FailOn:
        """The ``--fail-on`` of the run; an older run, without one, weighed no severity."""
        return self.fail_on or ("should" if self.strict else "must")

    @classmethod
    def of(
        cls,
        results: Iterable[Result],
        findings: Iterable[Finding],
        observations: Iterable[Observation],
        **facts: Unpack[RunFacts],
    ) -> Self:
        """The run of these results. Values are bounded: what is longer is cut here and whole in the
        exchanges. Its readings are the observations whose topic is the reading of a requirement."""
        requirements = [_requirement(result) for result in results]
        own = [row for row in requirements if row.is_own]
        rows, values = list(observations), {"exit_code": 0, **facts}
        return cls(
            target=Target(url=values.pop("target_url"), profile=values.pop("target_profile")),
            summary=counted([row for row in requirements if not row.is_own]),
            own_rules=counted(own) if own else None,
            strict=values["fail_on"] == "should",
            requirements=requirements,
            findings=[finding_entry(finding) for finding in findings],
            observations=[ObservationEntry.model_validate(row, from_attributes=True) for row in rows],
            readings=_readings(requirements, rows),
            **values,
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """The run of a ``results.json``, or of a folder that holds one. UsageError: there is none, or it
        is another file."""
        file = path / "results.json" if path.is_dir() else path
        try:
            return cls.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            raise UsageError(
                f"{file}: there is no such file. A run writes it under its --out folder."
            ) from None
        except OSError as refused:
            raise UsageError(f"{file}: cannot be read ({refused.strerror}). Check the path.") from None
        except ValidationError as wrong:
            first = wrong.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the file"
            raise UsageError(
                f"{file}: not a results.json of schema {SCHEMA}: {place}: {first['msg']}. "
                "Name the folder of a run, a check or a replay."
            ) from None

    @property
    def remarks(self) -> list[str]:
        return [*self.notes, *(f"Not restored: {sentence}." for sentence in self.ending.left_behind)]

    def dump(self) -> dict[str, Any]:
        """The run as JSON: the contract's keys always, the others where they say something."""
        whole = self.model_dump(mode="json", by_alias=True)
        for name in EXTRAS:
            if not whole[name]:
                del whole[name]
        if self.ending == Ending():
            del whole["ending"]
        if self.scope == Scope():
            del whole["scope"]
        if self.command != "replay" and not whole["regressions"]:
            del whole["regressions"]
        return whole

    def text(self) -> str:
        return json_text(self.dump())

    def write(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")

    @property
    def codes(self) -> list[int]:
        """The exit code, followed by those of its other reasons."""
        return [self.exit_code, *(code for code in self.exit_codes if code != self.exit_code)]

    def by_verdict(self, verdict: VerdictName) -> list[RequirementEntry]:
        """The requirements of the specification, and readings that the profile pins, with a verdict."""
        return [entry for entry in self.requirements if entry.verdict == verdict and not entry.is_own]

    @property
    def own_ids(self) -> frozenset[str]:
        """The ids of the user's own rules."""
        return frozenset(entry.id for entry in self.requirements if entry.is_own)

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return max(0.0, moment(self.finished) - moment(self.started))


def counted(requirements: Sequence[RequirementEntry]) -> Summary:
    numbers = Counter(entry.verdict for entry in requirements)
    return Summary.model_validate({name: numbers.get(name, 0) for name in VERDICTS})


def moment(iso: str) -> float:
    """An ISO 8601 time in epoch seconds, UTC where it names no zone; 0 where it is none."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return 0.0
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def schema() -> dict[str, Any]:
    """The JSON Schema of ``results.json``, as it is published beside this module."""
    document = Run.model_json_schema(by_alias=True, mode="serialization")
    always = ["schema", "suite", "target", "started", "finished", "impact", "strict", "exit_code", "summary"]
    document["required"] = [*always, "requirements", "findings", "observations"]
    document["title"] = "results.json of portal-conformance, schema 1"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}


SCHEMA_FILE = Path(__file__).with_name("results.schema.json")


def _requirement(result: Result) -> RequirementEntry:
    row = result.requirement
    return RequirementEntry(
        id=row.id,
        section=row.section,
        level=row.level,
        statement=row.statement,
        verdict=result.verdict.value,
        cases=list(result.cases),
        reason=None if result.reason is None else clipped(result.reason, text=600),
        fault_class=result.fault_class,
        operations=[] if len(row.operations) == len(BY_KEY) else list(row.operations),
        reading=row.reading,
        untestable=row.untestable is not None,
    )


def finding_entry(finding: Finding) -> FindingEntry:
    return FindingEntry.model_validate(finding, from_attributes=True)


def _readings(requirements: Sequence[RequirementEntry], observations: Sequence[Observation]) -> list[Reading]:
    by_topic: dict[str, list[Observation]] = {}
    for row in observations:
        by_topic.setdefault(row.topic, []).append(row)
    rows = {entry.reading: entry for entry in requirements if entry.reading in by_topic}
    return [
        Reading(
            key=key,
            observed=list({repr(row.observed): row.observed for row in by_topic[key]}.values()),
            statement=row.statement,
            requirement=row.id,
            endpoint=by_topic[key][0].endpoint if len({row.endpoint for row in by_topic[key]}) == 1 else None,
            exchanges=[number for row in by_topic[key] for number in row.exchanges][:10],
        )
        for key, row in rows.items()
        if key is not None
    ]
